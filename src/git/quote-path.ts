const named: Record<string, string> = {
  "\x07": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  '"': '"',
  "\\": "\\",
};
const unnamed = Object.fromEntries(Object.entries(named).map(([char, letter]) => [letter, char]));

/** A path in a diff's header as git writes it with core.quotePath=false: quoted only when it holds what would end a line or a quote. */
export function quotePath(path: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are the point
  if (!/[\x00-\x1f\x7f"\\]/.test(path)) return path;
  // oxlint-disable-next-line no-control-regex -- control characters are the point
  const escaped = path.replaceAll(/[\x00-\x1f\x7f"\\]/g, (char) => {
    const letter = named[char];
    return letter === undefined ? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}` : `\\${letter}`;
  });
  return `"${escaped}"`;
}

/** The path that git quoted, byte for byte: `text` is latin1. */
export function unquotePath(text: string): string {
  if (!text.startsWith('"')) return text;
  return text
    .slice(1, -1)
    .replaceAll(/\\([0-7]{3}|.)/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (unnamed[code] ?? code),
    );
}
