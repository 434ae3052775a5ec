import { firstBorder, lastBorder } from "../base/index.ts";
import { SUMMARY_HEAD_BYTES, SUMMARY_LINE_BYTES, SUMMARY_TAIL_BYTES, type Truncation } from "../contract/index.ts";

/** Bytes of a log that lie at `from`. */
export interface Piece {
  from: number;
  data: Buffer;
}

/** A range of a log and what is shown of it: pieces in order, that do not overlap. Whatever they leave open is omitted. */
export interface SummaryInput {
  from: number;
  to: number;
  pieces: readonly Piece[];
}

export interface Summary {
  output: string;
  truncated?: Truncation;
}

const lineMark = " ... [truncated]";
const keptOfLine = SUMMARY_LINE_BYTES - lineMark.length;

/** The ranges of a log that a summary of [from, to) needs: all of it, or head and tail. */
export function summaryRanges(from: number, to: number): [number, number][] {
  if (to - from <= SUMMARY_HEAD_BYTES + SUMMARY_TAIL_BYTES) return [[from, to]];
  return [
    [from, from + SUMMARY_HEAD_BYTES],
    [to - SUMMARY_TAIL_BYTES, to],
  ];
}

/**
 * Text of a log within one budget: head and tail, every hole marked with its exact size, cuts at character borders, long lines
 * cut. `omitted` counts the holes; cut lines are counted apart, and their bytes stay readable in the log.
 */
export function summarise(input: SummaryInput): Summary {
  const { shown, omitted } = settleBorders(input);
  let cutLines = 0;
  const texts = shown.map((piece) => {
    const { data, cuts } = cutLongLines(piece.data);
    cutLines += cuts;
    return data.toString("utf8");
  });
  const output = weave(input.from, shown, texts, omitted);
  if (omitted.length === 0 && cutLines === 0) return { output };
  const truncated: Truncation = {
    original_bytes: input.to - input.from,
    retained_bytes: Buffer.byteLength(output),
    omitted_bytes: omitted.reduce((sum, [from, to]) => sum + to - from, 0),
    strategy: "head_tail",
  };
  if (cutLines > 0) truncated.cut_lines = cutLines;
  if (omitted.length > 0) truncated.omitted = omitted;
  return { output, truncated };
}

/** Joins what touches, and moves each edge beside a hole to a character border. */
function settleBorders({ from, to, pieces }: SummaryInput): { shown: Piece[]; omitted: [number, number][] } {
  const shown: Piece[] = [];
  for (const piece of joinTouching(pieces)) {
    const end = piece.from + piece.data.length;
    const first = piece.from > from ? firstBorder(piece.data) : 0;
    const last = end < to ? lastBorder(piece.data) : piece.data.length;
    if (last > first) shown.push({ from: piece.from + first, data: piece.data.subarray(first, last) });
  }
  const omitted: [number, number][] = [];
  let at = from;
  for (const piece of shown) {
    if (piece.from > at) omitted.push([at, piece.from]);
    at = piece.from + piece.data.length;
  }
  if (at < to) omitted.push([at, to]);
  return { shown, omitted };
}

function joinTouching(pieces: readonly Piece[]): Piece[] {
  const joined: { from: number; parts: Buffer[]; end: number }[] = [];
  for (const piece of pieces) {
    if (piece.data.length === 0) continue;
    const last = joined.at(-1);
    const end = piece.from + piece.data.length;
    if (last?.end === piece.from) {
      last.parts.push(piece.data);
      last.end = end;
    } else joined.push({ from: piece.from, parts: [piece.data], end });
  }
  return joined.map(({ from, parts }) => ({
    from,
    data: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts),
  }));
}

function cutLongLines(data: Buffer): { data: Buffer; cuts: number } {
  if (data.length <= SUMMARY_LINE_BYTES) return { data, cuts: 0 };
  const parts: Buffer[] = [];
  let cuts = 0;
  for (let at = 0; at < data.length; ) {
    const newline = data.indexOf(10, at);
    const end = newline < 0 ? data.length : newline;
    if (end - at > SUMMARY_LINE_BYTES) {
      const line = data.subarray(at, end);
      parts.push(line.subarray(0, lastBorder(line, keptOfLine)), Buffer.from(lineMark));
      cuts++;
      if (newline >= 0) parts.push(data.subarray(newline, newline + 1));
    } else parts.push(data.subarray(at, newline < 0 ? end : newline + 1));
    at = newline < 0 ? data.length : newline + 1;
  }
  return cuts === 0 ? { data, cuts } : { data: Buffer.concat(parts), cuts };
}

function weave(start: number, shown: Piece[], texts: string[], omitted: [number, number][]): string {
  const holes = new Map(omitted);
  const mark = (at: number) => {
    const to = holes.get(at);
    return to === undefined ? "" : `\n\n... [omitted ${to - at} bytes] ...\n\n`;
  };
  let output = mark(start);
  shown.forEach((piece, i) => {
    output += (texts[i] ?? "") + mark(piece.from + piece.data.length);
  });
  return output;
}
