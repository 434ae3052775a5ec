import { type Likeness, toFeeds } from "./find-text.ts";
import { indentOf, splitLines, type TextLine, trim } from "./text-lines.ts";

/**
 * A replacement for lines that were found by their likeness. Lines at its start and end that the edit does not change stay as the
 * file has them; the others get the file's line ends and, where indentation was ignored, its indentation.
 */
export function fitLines(
  found: readonly TextLine[],
  edit: { search: string; replace: string },
  { likeness, eol: usual }: { likeness: Likeness; eol: "\n" | "\r\n" },
): string {
  const search = splitLines(toFeeds(edit.search)).map(({ body }) => body);
  const replace = toFeeds(edit.replace).split("\n");
  const endsAlike = edit.search.endsWith("\n") && replace.at(-1) === "";
  if (endsAlike) replace.pop();
  const same = countSame(search, replace);
  const eol = found.find(({ ending }) => ending !== "")?.ending || usual;
  const fit = likeness === "outer white space" ? createIndentFitter(search, found, replace) : (line: string) => line;
  return replace
    .map((line, i) => {
      const fromEnd = replace.length - i;
      const kept = i < same.start ? found[i] : fromEnd <= same.end ? found[found.length - fromEnd] : undefined;
      const isLast = fromEnd === 1;
      const ending = isLast ? (endsAlike ? (found.at(-1)?.ending ?? "") : "") : kept?.ending || eol;
      return (kept ? kept.body : fit(line)) + ending;
    })
    .join("");
}

function countSame(a: readonly string[], b: readonly string[]): { start: number; end: number } {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return { start, end };
}

/** What the search's author saw as indentation, put in terms of the file. */
function createIndentFitter(
  search: readonly string[],
  found: readonly TextLine[],
  replace: readonly string[],
): (line: string) => string {
  const pairs = new Map<string, string>();
  search.forEach((line, i) => {
    const indent = indentOf(line);
    if (trim(line) !== "" && !pairs.has(indent)) pairs.set(indent, indentOf(found[i]?.body ?? ""));
  });
  const given = [...search, ...replace].filter((line) => trim(line) !== "").map(indentOf);
  const convert = createStepConverter(given, pairs);
  const known = [...pairs.keys()].toSorted((a, b) => b.length - a.length);
  const fitIndent = (indent: string): string => {
    const inner = known.find((key) => indent.startsWith(key));
    if (inner !== undefined) return (pairs.get(inner) ?? "") + convert(indent.slice(inner.length));
    const outer = known.findLast((key) => key.startsWith(indent));
    if (outer === undefined) return indent;
    const full = pairs.get(outer) ?? "";
    return full.slice(0, Math.max(0, full.length - convert(outer.slice(indent.length)).length));
  };
  return (line) => {
    if (trim(line) === "") return line;
    const indent = indentOf(line);
    return fitIndent(indent) + line.slice(indent.length);
  };
}

/** How further indentation of the author's becomes the file's: one step for one step. */
function createStepConverter(given: readonly string[], pairs: ReadonlyMap<string, string>): (more: string) => string {
  const [ours, theirs] = [[...pairs.keys()], [...pairs.values()]];
  const [from, to] = [kindOf(given), kindOf(theirs)];
  // One depth alone shows a shift, not a scale.
  const isShift = from === to && ours.length < 2;
  if (from === undefined || to === undefined || isShift) return (more) => more;
  const step = stepOf(from === to ? ours : given);
  const size = to === "\t" ? 1 : stepOf(theirs);
  return (more) => (more.length % step === 0 ? to.repeat((more.length / step) * size) : more);
}

/** The character that all indentation is made of, if it is one. */
function kindOf(indents: readonly string[]): " " | "\t" | undefined {
  const all = indents.join("");
  if (all === "") return undefined;
  return /^ +$/.test(all) ? " " : /^\t+$/.test(all) ? "\t" : undefined;
}

/** The smallest difference of depths. */
function stepOf(indents: readonly string[]): number {
  const widths = [...new Set([0, ...indents.map((indent) => indent.length)])].toSorted((a, b) => a - b);
  const steps = widths.slice(1).map((width, i) => width - (widths[i] ?? 0));
  return Math.min(...steps);
}
