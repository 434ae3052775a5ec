/** A line of a text, its end apart. */
export interface TextLine {
  readonly body: string;
  /** Empty only for a last line that lacks it. */
  readonly ending: "\n" | "\r\n" | "";
  readonly from: number;
}

/** Every line of a text; behind a final line end there is no further line. */
export function splitLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  for (let from = 0; from < text.length; ) {
    const feed = text.indexOf("\n", from);
    if (feed === -1) {
      lines.push({ body: text.slice(from), ending: "", from });
      break;
    }
    const isPair = feed > from && text[feed - 1] === "\r";
    lines.push({ body: text.slice(from, isPair ? feed - 1 : feed), ending: isPair ? "\r\n" : "\n", from });
    from = feed + 1;
  }
  return lines;
}

/** The number of the line, from 1, that holds this place of the text. */
export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < index; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** Beyond this many lines a text is not taken apart: that would cost many times its own memory. */
const LINES = 500_000;

export function hasTooManyLines(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) if (++count > LINES) return true;
  return false;
}

/** By hand: an expression for this takes quadratic time on a long run of blanks inside a line. */
export function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(0, end);
}

export function trim(line: string): string {
  const text = trimEnd(line);
  let start = 0;
  while (start < text.length && isBlank(text.charCodeAt(start))) start++;
  return text.slice(start);
}

/** The white space that a line begins with. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** White space of source texts only. Texts are bytes here, of which some above 0x7f would be white space to JavaScript. */
function isBlank(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}
