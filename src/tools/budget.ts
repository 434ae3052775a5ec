// The one place that decides how much of a log a model sees.
//
// What fits is shown whole. Otherwise the end is chosen first and is never given up, the start gets the rest, and the hole between
// them is known to the byte. Escape sequences and progress bars are rendered away before anything is counted, so a megabyte of
// progress bar costs a line. A line longer than an eighth of the budget is cut in its middle, and only when something has to go.
//
// Invariants: the text is at most `maxBytes` of valid UTF-8; shown and missing ranges cover the asked range without gap or overlap.
import { firstBorder, lastBorder } from "../base/index.ts";
import { type View, viewOf } from "./line-cut.ts";

/** First byte, and the byte after the last. */
export type Range = readonly [from: number, to: number];

/** A log, as far as it matters here. */
export interface LogSource {
  readonly from: number;
  readonly to: number;
  /** What is no longer kept. */
  readonly dropped: readonly Range[];
  /** Bytes from the first kept one on; may end early. */
  read(from: number, to: number): { from: number; data: Buffer };
  /** Text as a person would read it. */
  readonly render: (text: string) => string;
}

export interface Fitted {
  text: string;
  /** What the text stands for, in order. */
  shown: Range[];
  /** What is missing and can be fetched. */
  omitted: Range[];
  /** What is missing for good. */
  gone: Range[];
  cutLines: number;
  /** What was cut out of shown lines, where the place is known. */
  cuts: Range[];
}

/** Bytes that are read to fill one half; more than this of progress bars is not looked through. */
const WINDOW_BYTES = 256 << 10;
/** Room for the marks of two holes. */
const MARKS_BYTES = 112;
const LINE_LEAST = 256;

interface Piece extends View {
  from: number;
  to: number;
}

/** The text of a part of a log within a budget. */
export function fitOutput(source: LogSource, maxBytes: number): Fitted {
  const kept = without([[source.from, source.to]], source.dropped);
  const window = Math.max(WINDOW_BYTES, maxBytes * 2);
  const whole = readWhole(source, kept, { window, maxBytes });
  if (whole) return settle(source, [whole]);
  const first = kept[0];
  const last = kept.at(-1);
  if (!first || !last) return settle(source, []);
  const lineBytes = Math.max(LINE_LEAST, Math.floor(maxBytes / 8));
  const room = maxBytes - MARKS_BYTES;
  const tail = takeTail(source, last, { window, lineBytes, budget: Math.floor(room / 2) });
  const left = room - Buffer.byteLength(tail?.text ?? "");
  const end = Math.min(first[1], tail?.from ?? first[1]);
  const head = takeHead(source, [first[0], end], { window, lineBytes, budget: left });
  return settle(
    source,
    [head, tail].filter((piece) => piece !== undefined),
  );
}

/** How a hole looks in the text. */
export function holeMark(bytes: number): string {
  return `\n\n... [omitted ${bytes} bytes] ...\n\n`;
}

/** Ranges without parts of others; both sorted. */
export function without(ranges: readonly Range[], holes: readonly Range[]): Range[] {
  const left: Range[] = [];
  for (const [from, to] of ranges) {
    let at = from;
    for (const [a, b] of holes) {
      if (b <= at || a >= to) continue;
      if (a > at) left.push([at, a]);
      at = Math.max(at, b);
    }
    if (at < to) left.push([at, to]);
  }
  return left;
}

function readWhole(
  source: LogSource,
  kept: readonly Range[],
  o: { window: number; maxBytes: number },
): Piece | undefined {
  const { from, to } = source;
  const isWhole = kept.length === 1 && kept[0]?.[0] === from && kept[0][1] === to;
  if (!isWhole || to - from > o.window * 2) return undefined;
  const got = source.read(from, to);
  if (got.from !== from || got.data.length !== to - from) return undefined;
  const text = source.render(got.data.toString("utf8"));
  return Buffer.byteLength(text) <= o.maxBytes ? { from, to, text, cutLines: 0, cuts: [] } : undefined;
}

interface Take {
  window: number;
  lineBytes: number;
  budget: number;
}

function takeTail(source: LogSource, [from, to]: Range, o: Take): Piece | undefined {
  const { from: base, data } = source.read(Math.max(from, to - o.window), to);
  const view = (at: number) => viewOf(data.subarray(at), base + at, { render: source.render, lineBytes: o.lineBytes });
  const fits = (length: number) => Buffer.byteLength(view(data.length - length).text) <= o.budget;
  let at = data.length - longest(data.length, o.budget, fits);
  if (at > 0 || base > from) at = lineStart(data, at);
  // Where a part begins changes how it is rendered, so the last word is the real size.
  while (at < data.length && !fits(data.length - at)) {
    at = firstBorder(data, at + Math.ceil((data.length - at) / 4));
  }
  return at < data.length ? { from: base + at, to: base + data.length, ...view(at) } : undefined;
}

function takeHead(source: LogSource, [from, to]: Range, o: Take): Piece | undefined {
  if (from >= to) return undefined;
  const { from: base, data } = source.read(from, Math.min(to, from + o.window));
  const view = (length: number) =>
    viewOf(data.subarray(0, length), base, { render: source.render, lineBytes: o.lineBytes });
  const fits = (length: number) => Buffer.byteLength(view(length).text) <= o.budget;
  let length = longest(data.length, o.budget, fits);
  if (base + length < to) length = lineEnd(data, length);
  while (length > 0 && !fits(length)) length = lastBorder(data, Math.floor((length * 3) / 4));
  return length > 0 ? { from: base, to: base + length, ...view(length) } : undefined;
}

/** About the greatest length that fits: doubled from the budget on, then halved between. */
function longest(total: number, budget: number, fits: (length: number) => boolean): number {
  let least = 0;
  let most = Math.min(total, budget);
  while (fits(most)) {
    least = most;
    if (most === total) return total;
    most = Math.min(total, most * 2);
  }
  for (let round = 0; round < 8 && most - least > 32; round++) {
    const middle = (least + most) >> 1;
    if (fits(middle)) least = middle;
    else most = middle;
  }
  return least;
}

/** The first line that begins at or after a place, unless that gives up too much; then the next character. */
function lineStart(data: Buffer, at: number): number {
  if (at > 0 && data[at - 1] === 10) return at;
  const next = data.indexOf(10, at) + 1;
  return next > 0 && next < data.length && next - at <= (data.length - at) / 2 ? next : firstBorder(data, at);
}

function lineEnd(data: Buffer, length: number): number {
  const next = length === 0 ? 0 : data.lastIndexOf(10, length - 1) + 1;
  return next >= length / 2 ? next : lastBorder(data, length);
}

function settle(source: LogSource, pieces: readonly Piece[]): Fitted {
  const shown = pieces.map(({ from, to }): Range => [from, to]);
  const holes = without([[source.from, source.to]], shown);
  let text = "";
  let at = source.from;
  for (const piece of pieces) {
    if (piece.from > at) text += holeMark(piece.from - at);
    text += piece.text;
    at = piece.to;
  }
  if (source.to > at) text += holeMark(source.to - at);
  const omitted = without(holes, source.dropped);
  return {
    text,
    shown,
    omitted,
    gone: without(holes, omitted),
    cutLines: pieces.reduce((sum, piece) => sum + piece.cutLines, 0),
    cuts: pieces.flatMap((piece) => piece.cuts),
  };
}
