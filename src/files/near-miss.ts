import { hasTooManyLines, lineAt, splitLines, trim } from "./text-lines.ts";

/** Places looked at closely. */
const CANDIDATES = 200;
const SHOWN = 120;

/** Why a search finds nothing, as far as it can be said: done already, or the place where most of it stands. */
export function explainMiss(text: string, edit: { search: string; replace: string }): { words: string; line?: number } {
  const done = trim(edit.replace) === "" ? -1 : text.indexOf(edit.replace);
  if (done !== -1) {
    const line = lineAt(text, done);
    return { words: `The replacement is already there at line ${line}: perhaps this edit was made before.`, line };
  }
  if (hasTooManyLines(text)) return { words: "The file has too many lines to look for something similar." };
  const wanted = splitLines(edit.search).map(({ body }) => trim(body));
  const start = wanted.findIndex((line) => line !== "");
  const lines = splitLines(text).map(({ body }) => trim(body));
  let best = { first: -1, equal: 0 };
  let looked = 0;
  for (let first = lines.indexOf(wanted[start] ?? ""); first !== -1 && looked < CANDIDATES; looked++) {
    let equal = 1;
    while (start + equal < wanted.length && lines[first + equal] === wanted[start + equal]) equal++;
    if (equal > best.equal) best = { first, equal };
    first = lines.indexOf(wanted[start] ?? "", first + 1);
  }
  if (best.first === -1) return { words: "Not even its first line is there." };
  const line = best.first + best.equal + 1;
  const there = lines[line - 1];
  const has = there === undefined ? "the file ends" : `the file has "${shown(there)}"`;
  const words = `Its first ${best.equal === 1 ? "line is" : `${best.equal} lines are`} at line ${best.first + 1}, but then, at line ${line}, ${has} where the search has "${shown(wanted[start + best.equal] ?? "")}".`;
  return { words, line };
}

/** Texts are bytes here; people read characters. */
function shown(line: string): string {
  const text = Buffer.from(line, "latin1").toString("utf8");
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
