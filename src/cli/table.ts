import { oneLine } from "./one-line.ts";
import { type TextWidth, textWidthFor } from "./text-width.ts";

/** One column: its heading and how a row shows in it. The last column takes what width is left. */
export interface Column<Row> {
  readonly title: string;
  /** Any text; control characters are shown as blanks. */
  text(row: Row): string;
  /** Colour, put on after the text is cut and padded, so that widths stay right. */
  style?(text: string, row: Row): string;
  readonly right?: boolean;
}

/** The last column keeps at least this much, however narrow the terminal. */
const LAST_LEAST = 8;

/** Aligned lines, two blanks between columns. A column that is empty in every row is left out. `width` cuts the last column. */
export async function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): Promise<string[]> {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const measure = await textWidthFor(cells.flat());
  const shown = columns.flatMap((column, i) => {
    const isLast = i === columns.length - 1;
    const texts = [column.title, ...cells.map((line) => line[i] ?? "")];
    const isEmpty = cells.every((line) => line[i] === "");
    return isEmpty && !isLast ? [] : [{ i, column, isLast, width: Math.max(...texts.map(measure)) }];
  });
  const before = shown.slice(0, -1).reduce((sum, c) => sum + c.width + 2, 0);
  const last = Math.max(LAST_LEAST, width - before);
  const line = (texts: readonly string[], row?: Row) =>
    shown.map((c) => {
      const text = c.isLast ? cut(texts[c.i] ?? "", last, measure) : (texts[c.i] ?? "");
      const painted = row !== undefined && c.column.style ? c.column.style(text, row) : text;
      if (c.isLast) return painted;
      const room = " ".repeat(c.width - measure(text));
      return c.column.right ? `${room}${painted}  ` : `${painted}${room}  `;
    });
  const titles = columns.map((column) => column.title);
  return [line(titles), ...rows.map((row, r) => line(cells[r] ?? [], row))].map((parts) => parts.join("").trimEnd());
}

/** Cut to `width` columns with an ellipsis, between characters as a terminal counts them. */
export function cut(text: string, width: number, measure: TextWidth): string {
  if (measure(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const w = measure(segment);
    if (used + w > width - 1) break;
    kept += segment;
    used += w;
  }
  return `${kept}…`;
}
