import type { Range } from "./state-file.ts";

/** Sorted, without empty ones, overlapping and touching ones joined. */
export function joinRanges(ranges: readonly Range[]): Range[] {
  const sorted = ranges.filter(([from, to]) => to > from).sort((a, b) => a[0] - b[0]);
  const joined: Range[] = [];
  for (const [from, to] of sorted) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/** The first run of kept bytes at or behind `from` and before `to`; empty at its start when there is none. Gaps are joined ranges. */
export function firstKept(from: number, to: number, gaps: readonly Range[]): Range {
  let start = from;
  for (const [a, b] of gaps) {
    if (b <= start) continue;
    if (a > start) return [start, Math.max(start, Math.min(to, a))];
    start = b;
  }
  return [start, Math.max(start, to)];
}
