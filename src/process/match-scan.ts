import { firstBorder } from "../base/index.ts";
import type { LogFile } from "../native/index.ts";
import { readPieces } from "./output-host.ts";
import type { FoundMatch, Pattern } from "./pattern.ts";
import type { PatternPool } from "./pattern-pool.ts";

/** A match may begin this far back in what was already looked at, so that one split over writes is found. */
const OVERLAP_BYTES = 64 << 10;
/** Given to the thread at a time. */
const SLICE_BYTES = 512 << 10;
/** Bytes before the place where matching begins: enough for `^`, `\b` and one character of look-behind. */
const BEFORE_BYTES = 64;

/** Looks for the first match in a growing log, from a byte on; each call looks at what is new, and a little before it. */
export class MatchScan {
  readonly #pool: PatternPool;
  readonly #pattern: Pattern;
  readonly #from: number;
  #scanned: number;

  constructor(pool: PatternPool, pattern: Pattern, from: number) {
    this.#pool = pool;
    this.#pattern = pattern;
    this.#from = from;
    this.#scanned = from;
  }

  /** Up to where everything was looked at. */
  get scanned(): number {
    return this.#scanned;
  }

  async advance(log: LogFile, end: number): Promise<FoundMatch | undefined> {
    while (this.#scanned < end) {
      const begin = Math.max(this.#from, this.#scanned - OVERLAP_BYTES);
      const stop = Math.min(end, this.#scanned + SLICE_BYTES);
      for (const { from, data } of readPieces(log, Math.max(0, begin - BEFORE_BYTES), stop)) {
        if (from + data.length <= begin) continue;
        const cut = from === 0 ? 0 : firstBorder(data);
        const skip = Math.max(0, begin - from - cut);
        const job = {
          kind: "match",
          pattern: this.#pattern,
          data: new Uint8Array(data.subarray(cut)),
          base: from + cut,
          skip,
        } as const;
        const found = await this.#pool.match(job);
        if (found) return found;
      }
      this.#scanned = stop;
    }
    return undefined;
  }
}
