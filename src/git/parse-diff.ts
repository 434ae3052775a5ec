import { unquotePath } from "./quote-path.ts";

/** Lines added and deleted; both absent for a binary file. */
export interface FileCount {
  additions?: number;
  deletions?: number;
}

/**
 * Takes `git diff --numstat -p -z` in pieces: first the counts, NUL-terminated, an empty one at their end, then the text. Of the
 * text every file's part is kept whole or left out: one that is longer than `mostBytes` is dropped while it comes in.
 */
export class DiffReader {
  /** By path, in latin1. */
  readonly counts = new Map<string, FileCount>();
  /** The path in latin1 and the bytes of its part, in git's order. */
  readonly parts: { path: string; text: Buffer }[] = [];
  readonly #mostBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #inCounts = true;
  #inLine = false;
  #part: { header: string; headerOpen: boolean; chunks: Buffer[]; bytes: number } | undefined;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (this.#inCounts) this.#takeCounts();
    if (!this.#inCounts) this.#takeLines();
  }

  end(): void {
    if (!this.#inCounts && this.#rest.length > 0) this.#takeText(this.#rest);
    this.#rest = Buffer.alloc(0);
    this.#finishPart();
  }

  #takeCounts(): void {
    let at = 0;
    for (;;) {
      const end = this.#rest.indexOf(0, at);
      if (end === -1) break;
      if (end === at) {
        this.#inCounts = false;
        at++;
        break;
      }
      const next = this.#takeCount(at, end);
      if (next === undefined) break;
      at = next;
    }
    this.#rest = this.#rest.subarray(at);
  }

  /** Where the next one begins; undefined when this one is not all there yet. A rename names both paths behind an empty one. */
  #takeCount(at: number, end: number): number | undefined {
    const [added, deleted, path] = splitTwice(this.#rest.toString("latin1", at, end));
    const count = added === "-" ? {} : { additions: Number(added), deletions: Number(deleted) };
    if (path !== "") {
      this.counts.set(path, count);
      return end + 1;
    }
    const oldEnd = this.#rest.indexOf(0, end + 1);
    const newEnd = oldEnd === -1 ? -1 : this.#rest.indexOf(0, oldEnd + 1);
    if (newEnd === -1) return undefined;
    this.counts.set(this.#rest.toString("latin1", oldEnd + 1, newEnd), count);
    return newEnd + 1;
  }

  /** Whole lines only, so that a line that begins a file's part is seen as one. Content never begins with a letter. */
  #takeLines(): void {
    const last = this.#rest.lastIndexOf(0x0a);
    // A line of many megabytes (minified) belongs to the part that is open.
    if (last === -1 && this.#rest.length < this.#mostBytes) return;
    const to = last === -1 ? this.#rest.length : last + 1;
    const lines = this.#rest.subarray(0, to);
    this.#rest = this.#rest.subarray(to);
    let from = 0;
    for (let at = nextPart(lines, this.#inLine ? 1 : 0); at !== -1; at = nextPart(lines, at + 1)) {
      if (at > from) this.#takeText(lines.subarray(from, at));
      this.#finishPart();
      this.#part = { header: "", headerOpen: true, chunks: [], bytes: 0 };
      from = at;
    }
    if (from < lines.length) this.#takeText(lines.subarray(from));
    this.#inLine = last === -1;
  }

  #takeText(text: Buffer): void {
    const part = this.#part;
    if (!part) return;
    if (part.headerOpen) {
      part.header += text.toString("latin1", 0, Math.min(text.length, MOST_HEADER_BYTES));
      part.headerOpen = !/^(@@|Binary|---)/m.test(part.header) && part.header.length < MOST_HEADER_BYTES;
    }
    part.bytes += text.length;
    // A copy: the piece it came in may hold megabytes that are not kept.
    if (part.bytes <= this.#mostBytes) part.chunks.push(Buffer.from(text));
    else part.chunks.length = 0;
  }

  #finishPart(): void {
    const part = this.#part;
    this.#part = undefined;
    if (!part || part.bytes > this.#mostBytes) return;
    const path = pathOfHeader(part.header);
    if (path !== undefined) this.parts.push({ path, text: Buffer.concat(part.chunks) });
  }
}

/** A header has two paths at most, each of PATH_MAX bytes, quoted by four. */
const MOST_HEADER_BYTES = 128 << 10;
/** `* Unmerged path x` stands alone between the parts and belongs to none. */
const beginnings = ["diff --git ", "* Unmerged path "].map((text) => ({
  first: Buffer.from(text),
  later: Buffer.from(`\n${text}`),
}));

/** Where a part begins at or behind `from`; -1 when none does. */
function nextPart(lines: Buffer, from: number): number {
  let least = -1;
  for (const { first, later } of beginnings) {
    if (from === 0 && lines.subarray(0, first.length).equals(first)) return 0;
    const found = lines.indexOf(later, Math.max(0, from - 1));
    if (found !== -1 && (least === -1 || found + 1 < least)) least = found + 1;
  }
  return least;
}

/**
 * The path (in latin1) that a file's part is about. A rename says it in a line of its own; in all other cases the first line
 * names one path twice, so that its middle is known though the path may hold ` b/`.
 */
export function pathOfHeader(header: string): string | undefined {
  const moved = /^(?:rename|copy) to (.*)$/m.exec(header.split(/^@@/m, 1)[0] ?? "")?.[1];
  if (moved !== undefined) return unquotePath(moved);
  const both = /^diff --git (.*)$/m.exec(header)?.[1];
  if (both === undefined) return undefined;
  const half = both.slice((both.length + 1) / 2);
  return unquotePath(half).replace(/^b\//, "");
}

/** The path itself may hold tabs. */
function splitTwice(text: string): [string, string, string] {
  const first = text.indexOf("\t");
  const second = text.indexOf("\t", first + 1);
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}
