import { findRuns } from "./find-runs.ts";
import { hasTooManyLines, splitLines, type TextLine, trim, trimEnd } from "./text-lines.ts";

/** How strictly the text that was found equals the one that was looked for. */
export type Likeness = "exact" | "trailing white space" | "outer white space";

/** One place. `lines` are the whole lines that it covers, when it was not found exactly. */
export interface Match {
  readonly from: number;
  readonly to: number;
  readonly lines?: readonly TextLine[];
}

export interface Found {
  readonly likeness: Likeness;
  readonly matches: Iterable<Match>;
}

/** The engine's own search is fast but not safe for long patterns; from here on ours is used. */
const LONG = 256;

/** The places of a text, found in the strictest way that finds any; undefined when none does. */
export function findText(text: string, search: string): Found | undefined {
  const found = findExactly(text, search) ?? (text.includes("\r\n") ? findExactly(text, toPairs(search)) : undefined);
  if (found) return found;
  // Blank lines are like any others then.
  if (trim(search) === "" || hasTooManyLines(text)) return undefined;
  const lines = splitLines(text);
  return findLines(lines, search, "trailing white space") ?? findLines(lines, search, "outer white space");
}

/** The same text with pairs of carriage return and line feed as line ends. */
export function toPairs(text: string): string {
  return toFeeds(text).replaceAll("\n", "\r\n");
}

/** The same text with line feeds alone. */
export function toFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function findExactly(text: string, search: string): Found | undefined {
  const matches = { [Symbol.iterator]: () => exactMatches(text, search) };
  return matches[Symbol.iterator]().next().done ? undefined : { likeness: "exact", matches };
}

function* exactMatches(text: string, search: string): Generator<Match> {
  if (search.length <= LONG) {
    for (let from = text.indexOf(search); from !== -1; from = text.indexOf(search, from + search.length)) {
      yield { from, to: from + search.length };
    }
    return;
  }
  const units = { length: text.length, at: (i: number) => text.charCodeAt(i) };
  const pattern = Array.from({ length: search.length }, (_, i) => search.charCodeAt(i));
  for (const from of findRuns(units, pattern)) yield { from, to: from + search.length };
}

function findLines(lines: readonly TextLine[], search: string, likeness: Likeness): Found | undefined {
  const bare = likeness === "outer white space" ? trim : trimEnd;
  const pattern = splitLines(search).map(({ body }) => bare(body));
  const bodies = { length: lines.length, at: (i: number) => bare(lines[i]?.body ?? "") };
  const withEnd = search.endsWith("\n");
  const matches: Match[] = [];
  for (const first of findRuns(bodies, pattern)) {
    const covered = lines.slice(first, first + pattern.length);
    const last = covered.at(-1);
    const to = last ? last.from + last.body.length + (withEnd ? last.ending.length : 0) : 0;
    matches.push({ from: covered[0]?.from ?? 0, to, lines: covered });
  }
  return matches.length > 0 ? { likeness, matches } : undefined;
}
