import { Fault } from "../contract/index.ts";
import { findText, type Likeness, type Match, toFeeds, toPairs } from "./find-text.ts";
import { fitLines } from "./fit-lines.ts";
import { explainMiss } from "./near-miss.ts";
import { lineAt } from "./text-lines.ts";

/** One replacement. */
export interface TextEdit {
  readonly search: string;
  readonly replace: string;
  readonly replaceAll: boolean;
}

export interface Edited {
  readonly text: string;
  readonly count: number;
  readonly likeness: Likeness;
}

/** More replacements in one edit are a job for sed; each costs memory here. */
const REPLACEMENTS = 1_000_000;
/** Places that a complaint about an ambiguous search names. */
const NAMED_LINES = 10;

/** Where it goes wrong, for the complaint. */
export interface EditPlace {
  readonly path: string;
  /** From 1. */
  readonly number: number;
  readonly maxLength: number;
}

/** Replaces the one place that the search means, or all. Throws a fault that says what to do when that cannot be known. */
export function editText(text: string, edit: TextEdit, place: EditPlace): Edited {
  if (edit.search === "")
    throw badEdit(place, "its search is empty; give the text to replace, or write the whole file");
  const found = findText(text, edit.search);
  if (!found) throw noMatch(text, edit, place);
  const style = { likeness: found.likeness, eol: text.includes("\r\n") ? "\r\n" : "\n" } as const;
  const pieces: string[] = [];
  let count = 0;
  let length = 0;
  let at = 0;
  const put = (piece: string) => {
    length += piece.length;
    if (length > place.maxLength) throw tooLarge(place);
    pieces.push(piece);
  };
  for (const match of found.matches) {
    if (++count === 2 && !edit.replaceAll) throw ambiguous(text, found.matches, place);
    if (count > REPLACEMENTS) throw tooLarge(place);
    put(text.slice(at, match.from));
    put(match.lines ? fitLines(match.lines, edit, style) : withEndings(text, match, edit));
    at = match.to;
  }
  put(text.slice(at));
  return { text: pieces.join(""), count, likeness: found.likeness };
}

/** The replacement with the line ends of the place that it goes to. */
function withEndings(text: string, { from, to }: Match, { search, replace }: TextEdit): string {
  if (!replace.includes("\n")) return replace;
  // An edit of nothing but line ends means what it says.
  if (toFeeds(search) === toFeeds(replace)) return replace;
  const feed = text.lastIndexOf("\n", to - 1);
  const before = feed >= from ? feed : -1;
  const after = before === -1 ? text.indexOf("\n", to) : before;
  const nearest = after === -1 ? text.lastIndexOf("\n", from) : after;
  if (nearest < 1) return replace;
  return text[nearest - 1] === "\r" ? toPairs(replace) : search.includes("\r\n") ? replace : toFeeds(replace);
}

function badEdit({ path, number }: EditPlace, why: string): Fault {
  return new Fault("request/invalid", `Edit ${number} of ${path} is not acceptable: ${why}.`, {
    validations: [{ field: "search", detail: why }],
  });
}

function noMatch(text: string, edit: TextEdit, { path, number }: EditPlace): Fault {
  const hint = explainMiss(text, edit);
  return new Fault(
    "file/no-match",
    `Edit ${number} of ${path}: the text to replace is not in the file. ${hint.words} Read the file again and copy the text exactly.`,
    { data: { path, edit: number, ...(hint.line !== undefined && { line: hint.line }) } },
  );
}

function ambiguous(text: string, matches: Iterable<Match>, { path, number }: EditPlace): Fault {
  const lines: number[] = [];
  let count = 0;
  for (const { from } of matches) if (++count <= NAMED_LINES) lines.push(lineAt(text, from));
  const more = count > lines.length ? " and more" : "";
  return new Fault(
    "file/ambiguous-match",
    `Edit ${number} of ${path}: the text to replace is there ${count} times (lines ${lines.join(", ")}${more}). Give more lines around the one you mean, or set replace_all.`,
    { data: { path, edit: number, count, lines } },
  );
}

function tooLarge({ path, number, maxLength }: EditPlace): Fault {
  return new Fault(
    "file/too-large",
    `Edit ${number} makes ${path} larger than ${maxLength} bytes or replaces more than ${REPLACEMENTS} places. Use a command.`,
  );
}
