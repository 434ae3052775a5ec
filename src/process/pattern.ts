// Callers' patterns on bytes of a log. Pure; run by pattern-worker.ts, because a pattern may take for ever.
//
// Matching sees decoded text; answers are exact byte offsets. Escape sequences do not get in the way: `error` is found in
// "\x1b[31merr\x1b[0mor" too, and the offsets then span the raw bytes of it.
import { byteOffset } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import { readEscape } from "./escape.ts";

/** Longest text of a match or a line in an answer, in UTF-16 units; the offsets tell the rest. */
const TEXT_MAX = 4_096;

/** What begins an escape sequence. */
// oxlint-disable-next-line no-control-regex -- controls are what this is about
const hasEscape = /[\x1b\x80-\x9f]/;

export interface Pattern {
  source: string;
  isRegex: boolean;
  ignoreCase: boolean;
}

/** The first match in `data`, which lies at `base` of the log; its first `skip` bytes are only what came before. */
export interface MatchJob {
  kind: "match";
  pattern: Pattern;
  data: Uint8Array;
  base: number;
  skip: number;
}
export interface FoundMatch {
  text: string;
  from: number;
  to: number;
}

/** Matching lines of data[from, to), which holds whole lines; what lies around it is context. */
export interface LinesJob {
  kind: "lines";
  pattern: Pattern;
  data: Uint8Array;
  base: number;
  from: number;
  to: number;
  context: number;
  limit: number;
}
export interface FoundLine {
  from: number;
  to: number;
  line: string;
  before: string[];
  after: string[];
}

export type PatternJob = MatchJob | LinesJob;

/** With Unicode rules where the expression allows it, else with the lenient ones. Faults when it does not compile. */
export function compilePattern(pattern: Pattern): RegExp {
  const source = pattern.isRegex ? pattern.source : pattern.source.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const flags = `gm${pattern.ignoreCase ? "i" : ""}`;
  try {
    return new RegExp(source, `${flags}u`);
  } catch (strict) {
    try {
      return new RegExp(source, flags);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(strict);
      throw new Fault("regex/invalid", "The regular expression does not compile.", { detail, cause: error });
    }
  }
}

/** Tried on the text as it is, then without escape sequences. */
export function findMatch(job: MatchJob): FoundMatch | undefined {
  const data = Buffer.from(job.data.buffer, job.data.byteOffset, job.data.byteLength);
  const raw = data.toString("utf8");
  const regex = compilePattern(job.pattern);
  const start = job.skip === 0 ? 0 : data.toString("utf8", 0, job.skip).length;
  const found = (from: number, to: number, text: string): FoundMatch => ({
    text: cutText(text),
    from: job.base + byteOffset(data, raw, from),
    to: job.base + byteOffset(data, raw, to),
  });
  regex.lastIndex = start;
  const plain = regex.exec(raw);
  if (plain) return found(plain.index, plain.index + plain[0].length, plain[0]);
  const bare = stripEscapes(raw);
  if (bare.text.length === raw.length) return undefined;
  regex.lastIndex = bare.fromRaw(start);
  const match = regex.exec(bare.text);
  if (!match) return undefined;
  const from = bare.toRaw(match.index);
  const to = match[0] === "" ? from : bare.toRaw(match.index + match[0].length - 1) + 1;
  return found(from, to, match[0]);
}

/** Lines end at `\n`; offsets are those of the raw line without it. */
export function findLines(job: LinesJob): FoundLine[] {
  const data = Buffer.from(job.data.buffer, job.data.byteOffset, job.data.byteLength);
  const regex = compilePattern(job.pattern);
  const found: FoundLine[] = [];
  for (let at = job.from; at < job.to && found.length < job.limit; ) {
    const end = lineEnd(data, at);
    const line = lineText(data, at, end);
    regex.lastIndex = 0;
    if (regex.test(line)) {
      found.push({
        from: job.base + at,
        to: job.base + end,
        line: cutText(line),
        before: linesBefore(data, at, job.context),
        after: linesAfter(data, end + 1, job.context),
      });
    }
    at = end + 1;
  }
  return found;
}

function linesBefore(data: Buffer, start: number, count: number): string[] {
  const lines: string[] = [];
  for (let end = start - 1; lines.length < count && end >= 0; ) {
    const from = end === 0 ? 0 : data.lastIndexOf(10, end - 1) + 1;
    lines.unshift(cutText(lineText(data, from, end)));
    end = from - 1;
  }
  return lines;
}

function linesAfter(data: Buffer, start: number, count: number): string[] {
  const lines: string[] = [];
  for (let at = start; lines.length < count && at < data.length; ) {
    const end = lineEnd(data, at);
    lines.push(cutText(lineText(data, at, end)));
    at = end + 1;
  }
  return lines;
}

function lineEnd(data: Buffer, from: number): number {
  const end = data.indexOf(10, from);
  return end < 0 ? data.length : end;
}

function lineText(data: Buffer, from: number, to: number): string {
  const end = to > from && data[to - 1] === 13 ? to - 1 : to;
  const raw = data.toString("utf8", from, end);
  return hasEscape.test(raw) ? stripEscapes(raw).text : raw;
}

function cutText(text: string): string {
  if (text.length <= TEXT_MAX) return text;
  const isSplit = (text.charCodeAt(TEXT_MAX - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isSplit ? TEXT_MAX - 1 : TEXT_MAX);
}

interface BareText {
  text: string;
  /** The raw index of a character of the bare text. */
  toRaw(index: number): number;
  /** The bare index of the first character at or behind a raw index. */
  fromRaw(index: number): number;
}

/** Text without escape sequences, and the way back. */
export function stripEscapes(raw: string): BareText {
  const introducer = new RegExp(hasEscape, "g");
  const parts: { bare: number; raw: number; length: number }[] = [];
  let text = "";
  for (let at = 0; at < raw.length; ) {
    introducer.lastIndex = at;
    const stop = introducer.exec(raw)?.index ?? raw.length;
    if (stop > at) {
      parts.push({ bare: text.length, raw: at, length: stop - at });
      text += raw.slice(at, stop);
    }
    at = stop < raw.length ? readEscape(raw, stop).end : stop;
  }
  return {
    text,
    toRaw(index) {
      const part = parts.findLast((p) => p.bare <= index);
      return part ? part.raw + index - part.bare : 0;
    },
    fromRaw(index) {
      const part = parts.find((p) => p.raw + p.length > index);
      return part ? part.bare + Math.max(0, index - part.raw) : text.length;
    },
  };
}
