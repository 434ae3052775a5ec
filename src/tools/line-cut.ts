import { firstBorder, isValidUtf8, lastBorder } from "../base/index.ts";
import type { Range } from "./budget.ts";

/** A part of a log as text. */
export interface View {
  text: string;
  cutLines: number;
  cuts: Range[];
}

/** Everything that is rendered away or moves the cursor; tab and newline are text. */
// oxlint-disable-next-line no-control-regex -- controls are what this is about
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/**
 * The text of bytes that lie at `base`. Lines of plain text are cut before they are rendered, so that it is known what was cut;
 * others afterwards, because only the rendered line has a length.
 */
export function viewOf(data: Buffer, base: number, o: { render: (text: string) => string; lineBytes: number }): View {
  const text = data.toString("utf8");
  if (isValidUtf8(data) && !control.test(text)) {
    const cut = cutLines(data, o.lineBytes, base);
    return { ...cut, text: o.render(cut.text) };
  }
  const { text: rendered, cutLines: count } = cutLines(Buffer.from(o.render(text)), o.lineBytes);
  return { text: rendered, cutLines: count, cuts: [] };
}

/** Cuts the middle out of long lines. With a base the mark says which bytes went. */
export function cutLines(data: Buffer, lineBytes: number, base?: number): View {
  if (data.length <= lineBytes) return { text: data.toString("utf8"), cutLines: 0, cuts: [] };
  const parts: string[] = [];
  const cuts: Range[] = [];
  let count = 0;
  for (let at = 0; at < data.length; ) {
    const newline = data.indexOf(10, at);
    const end = newline < 0 ? data.length : newline;
    const line = data.subarray(at, end);
    if (line.length > lineBytes) {
      const side = (lineBytes - MARK_BYTES) >> 1;
      const from = lastBorder(line, side);
      const to = firstBorder(line, line.length - side);
      parts.push(line.toString("utf8", 0, from), cutMark(to - from, base === undefined ? undefined : base + at + from));
      parts.push(line.toString("utf8", to));
      if (base !== undefined) cuts.push([base + at + from, base + at + to]);
      count++;
    } else parts.push(line.toString("utf8"));
    if (newline >= 0) parts.push("\n");
    at = end + 1;
  }
  return { text: parts.join(""), cutLines: count, cuts };
}

/** Room for the longest mark: two offsets of a log. */
const MARK_BYTES = 72;

function cutMark(bytes: number, from: number | undefined): string {
  const place = from === undefined ? "" : `: from ${from} to ${from + bytes}`;
  return ` ... [cut ${bytes} bytes${place}] ... `;
}
