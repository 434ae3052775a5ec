import { shortestEdit } from "./shortest-edit.ts";
import { hasTooManyLines } from "./text-lines.ts";

/** Unchanged lines around a change. */
const CONTEXT = 3;
/** A longer diff is cut: whoever needs it whole has the file. */
const DIFF_BYTES = 1 << 20;

/** The difference of two texts as `diff -u` writes it; empty when there is none. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return "";
  if (hasTooManyLines(before) || hasTooManyLines(after))
    return `--- ${path}\n+++ ${path}\n... [too many lines for a diff]\n`;
  const a = linesOf(before);
  const b = linesOf(after);
  const out = [`--- ${path}\n`, `+++ ${path}\n`];
  let length = 0;
  for (const hunk of joinBlocks(findBlocks(a, b))) {
    for (const piece of formatHunk(hunk, a, b)) {
      out.push(piece);
      length += piece.length;
      if (length > DIFF_BYTES) return `${out.join("")}... [diff cut at ${DIFF_BYTES} bytes]\n`;
    }
  }
  return out.join("");
}

/** Lines of `a` from `fromA` to `toA` became those of `b` from `fromB` to `toB`. */
interface Block {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function findBlocks(a: readonly string[], b: readonly string[]): Block[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const number = createNumbering();
  const { removed, added } = shortestEdit(
    Int32Array.from(a.slice(start, a.length - end), number),
    Int32Array.from(b.slice(start, b.length - end), number),
  );
  const blocks: Block[] = [];
  for (let i = 0, j = 0; i < removed.length || j < added.length; ) {
    const [fromA, fromB] = [i, j];
    while (removed[i]) i++;
    while (added[j]) j++;
    if (i > fromA || j > fromB)
      blocks.push({ fromA: fromA + start, toA: i + start, fromB: fromB + start, toB: j + start });
    else {
      i++;
      j++;
    }
  }
  return blocks;
}

/** The same line gets the same number. */
function createNumbering(): (line: string) => number {
  const numbers = new Map<string, number>();
  return (line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  };
}

/** Blocks whose surroundings touch make one hunk. */
function joinBlocks(blocks: readonly Block[]): Block[][] {
  const hunks: Block[][] = [];
  for (const block of blocks) {
    const last = hunks.at(-1);
    if (last && block.fromA - (last.at(-1)?.toA ?? 0) <= 2 * CONTEXT) last.push(block);
    else hunks.push([block]);
  }
  return hunks;
}

function* formatHunk(blocks: readonly Block[], a: readonly string[], b: readonly string[]): Generator<string> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (!first || !last) return;
  const lead = Math.min(CONTEXT, first.fromA);
  const tail = Math.min(CONTEXT, a.length - last.toA);
  const range = (from: number, to: number) => {
    const count = to - from;
    // An empty range names the line before it.
    return `${count === 0 ? from : from + 1}${count === 1 ? "" : `,${count}`}`;
  };
  yield `@@ -${range(first.fromA - lead, last.toA + tail)} +${range(first.fromB - lead, last.toB + tail)} @@\n`;
  let at = first.fromA - lead;
  for (const { fromA, toA, fromB, toB } of blocks) {
    for (; at < fromA; at++) yield formatLine(" ", a[at]);
    for (; at < toA; at++) yield formatLine("-", a[at]);
    for (let j = fromB; j < toB; j++) yield formatLine("+", b[j]);
  }
  for (; at < last.toA + tail; at++) yield formatLine(" ", a[at]);
}

function formatLine(sign: string, line = ""): string {
  return line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}
