import { closeSync, fstatSync, readSync } from "node:fs";
import { readU64 } from "./number64.ts";
import { INDEX_RECORD_BYTES } from "./protocol.ts";
import type { Range } from "./state-file.ts";

/** A run of log bytes that came on one stream, beginning at this time. */
export interface StreamPart {
  from: number;
  to: number;
  stream: "stdout" | "stderr";
  atMs: number;
}

interface IndexRecord {
  offset: number;
  stream: "stdout" | "stderr";
  atMs: number;
}

/** Records read at a time. */
const CHUNK = 1024;

/** The file `index`: records sorted by offset, its head and its last part kept, a hole between. */
export class LogIndex {
  readonly #open: () => number | undefined;
  #fd: number | undefined;

  constructor(open: () => number | undefined) {
    this.#open = open;
  }

  /** `hole` is in bytes of the index. What lies behind the last record before it is not known. */
  parts(from: number, to: number, hole: Range): StreamPart[] {
    this.#fd ??= this.#open();
    if (this.#fd === undefined || to <= from) return [];
    const count = Math.floor(fstatSync(this.#fd).size / INDEX_RECORD_BYTES);
    const hasHole = hole[1] > hole[0];
    const headEnd = hasHole ? Math.min(count, Math.floor(hole[0] / INDEX_RECORD_BYTES)) : count;
    const parts = this.#walk([0, headEnd], from, to, hasHole);
    if (hasHole) parts.push(...this.#walk([Math.ceil(hole[1] / INDEX_RECORD_BYTES), count], from, to, false));
    return parts;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #walk([first, last]: Range, from: number, to: number, isCut: boolean): StreamPart[] {
    const parts: StreamPart[] = [];
    let before: IndexRecord | undefined;
    const add = (upTo: number) => {
      if (!before) return;
      const part = {
        from: Math.max(before.offset, from),
        to: Math.min(upTo, to),
        stream: before.stream,
        atMs: before.atMs,
      };
      if (part.to > part.from) parts.push(part);
    };
    for (let at = Math.max(first, this.#lastAtOrBefore(first, last, from)); at < last; at += CHUNK) {
      for (const record of this.#records(at, Math.min(CHUNK, last - at))) {
        add(record.offset);
        before = record;
        if (record.offset >= to) return parts;
      }
    }
    if (!isCut) add(to);
    return parts;
  }

  /** By bisection; `first` when all are behind it. */
  #lastAtOrBefore(first: number, last: number, offset: number): number {
    let low = first;
    let high = last;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const record = this.#records(middle, 1)[0];
      if (record && record.offset <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  #records(at: number, count: number): IndexRecord[] {
    if (this.#fd === undefined || count <= 0) return [];
    const bytes = Buffer.allocUnsafe(count * INDEX_RECORD_BYTES);
    const got = readSync(this.#fd, bytes, 0, bytes.length, at * INDEX_RECORD_BYTES);
    const records: IndexRecord[] = [];
    for (let i = 0; i + INDEX_RECORD_BYTES <= got; i += INDEX_RECORD_BYTES) {
      records.push({
        offset: bytes.readUInt32LE(i + 4) * 0x100_0000 + (bytes.readUInt32LE(i) >>> 8),
        stream: bytes[i] === 2 ? "stderr" : "stdout",
        atMs: Math.floor(readU64(bytes, i + 8) / 1000),
      });
    }
    return records;
  }
}
