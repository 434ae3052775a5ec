/** Columns that a text takes on a terminal. */
export type TextWidth = (text: string) => number;

/** Plain ASCII needs no table of wide characters, which takes as long to load as the rest of this room; it comes when it is needed. */
export async function textWidthFor(texts: readonly string[]): Promise<TextWidth> {
  if (texts.every((text) => /^[\x20-\x7e]*$/.test(text))) return (text) => text.length;
  return (await import("string-width")).default;
}
