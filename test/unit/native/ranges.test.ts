import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstKept, joinRanges } from "../../../src/native/ranges.ts";
import type { Range } from "../../../src/native/state-file.ts";

const range = fc.tuple(fc.nat(60), fc.nat(60)) as fc.Arbitrary<Range>;
const covers = (ranges: readonly Range[], at: number) => ranges.some(([from, to]) => at >= from && at < to);

describe("ranges", () => {
  it("joined cover the same bytes, sorted and apart", () => {
    fc.assert(
      fc.property(fc.array(range), (ranges) => {
        const joined = joinRanges(ranges);
        for (let at = 0; at < 64; at++) expect(covers(joined, at)).toBe(covers(ranges, at));
        for (const [i, [from, to]] of joined.entries()) {
          expect(to).toBeGreaterThan(from);
          if (i > 0) expect(from).toBeGreaterThan(joined[i - 1]?.[1] ?? 0);
        }
      }),
    );
  });

  it("give the first kept bytes and stop at the next gap", () => {
    fc.assert(
      fc.property(fc.array(range), fc.nat(60), fc.nat(60), (ranges, from, to) => {
        const gaps = joinRanges(ranges);
        const [start, end] = firstKept(from, to, gaps);
        for (let at = from; at < Math.min(start, to); at++) expect(covers(gaps, at)).toBe(true);
        for (let at = start; at < end; at++) expect(covers(gaps, at)).toBe(false);
        if (end > start && end < to) expect(covers(gaps, end)).toBe(true);
      }),
    );
  });
});
