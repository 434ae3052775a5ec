import { ShellLexer } from "./shell-lexer.ts";

/**
 * Where the `&` stands that makes the last command of a shell text asynchronous; undefined when there is none. Only a single `&`
 * outside of every quote, substitution, comment and here-document counts. A text that the shell would not accept has none.
 */
export function findTrailingAmpersand(text: string): number | undefined {
  return new ShellLexer(text).readTrailingAmpersand();
}

/** The text with its last command in the foreground; undefined when it is there already. */
export function withoutTrailingAmpersand(text: string): string | undefined {
  const at = findTrailingAmpersand(text);
  if (at === undefined) return undefined;
  const rest = text.slice(0, at) + text.slice(at + 1);
  // What a backslash quotes is part of the command, a blank too.
  return /\\\s*$/.test(rest) ? rest : rest.trimEnd();
}
