/** A hint when a command only dumps files, as the original gives it; undefined when there is nothing to say. */
export function adviceFor(command: string): string | undefined {
  const text = command.trimStart();
  // A here-document or a redirection writes a file instead of showing one.
  if (text.startsWith("cat ") && !/[<>]/.test(text))
    return "to read files use read_file: it numbers lines and reads parts";
  if (/^(rg|grep)\s/.test(text) && /\s(--include-all|-l)(\s|$)/.test(text)) {
    return "to look into the files that were found use read_file";
  }
  return undefined;
}
