import { LOG_ANSWER_BYTES, type LogAnswer, type ProcessId } from "../contract/index.ts";
import type { Client } from "../sdk/index.ts";
import type { Context } from "./command.ts";
import { LogPrinter } from "./log-printer.ts";

/** The first look for the last lines; doubled until there are enough. */
const WINDOW_BYTES = 64 << 10;
/** No log keeps more than this at its end by default; lines are not looked for further back. */
const WINDOW_MOST_BYTES = 64 << 20;

/** What to look at, and how. */
export interface LogRange {
  id: ProcessId;
  view: "raw" | "text";
  stream?: "stdout" | "stderr";
  from: number;
  /** Only the last lines, instead of `from`. */
  lines?: number | undefined;
  signal: AbortSignal;
}

interface Page {
  from: number;
  next: number;
  end: number;
  data: Uint8Array;
}

/** Prints what is there now and returns where it ended. */
export async function readLog({ output }: Context, client: Client, range: LogRange): Promise<number> {
  const printer = new LogPrinter(output);
  const { from, skip } =
    range.lines === undefined ? { from: range.from, skip: 0 } : await findLastLines(client, range, range.lines);
  let cursor = from;
  let toSkip = skip;
  try {
    if (output.json) return await printAnswers({ ...range, from }, client, (page) => output.record(page));
    for await (const page of pages(cursor, range.signal, (at) => fetchPage(client, range, at))) {
      if (page.from > cursor && page.data.length > 0) printer.dropped(cursor, page.from);
      await printer.bytes(page.data.subarray(Math.min(toSkip, page.data.length)));
      toSkip = Math.max(0, toSkip - page.data.length);
      cursor = page.next;
    }
    return cursor;
  } finally {
    await printer.close();
  }
}

async function printAnswers(range: LogRange, client: Client, print: (page: LogAnswer) => void): Promise<number> {
  let cursor = range.from;
  const fetch = (from: number) => client.processes.log(range.id, { ...viewOf(range), from, limit: LOG_ANSWER_BYTES });
  for await (const page of pages(cursor, range.signal, fetch)) {
    print(page);
    cursor = page.next;
  }
  return cursor;
}

/** Everything from `from` to where the log ended when we began: a process that prints for ever does not hold us. */
async function* pages<P extends { next: number; end: number }>(
  from: number,
  signal: AbortSignal,
  fetch: (from: number) => Promise<P>,
): AsyncIterable<P> {
  let cursor = from;
  let end = Number.POSITIVE_INFINITY;
  while (!signal.aborted && cursor < end) {
    const page = await fetch(cursor);
    end = Math.min(end, page.end);
    yield page;
    if (page.next <= cursor) return;
    cursor = page.next;
  }
}

/** The raw view comes as bytes, so that nothing is moved to a character's border; the text view is text. */
async function fetchPage(client: Client, range: LogRange, from: number): Promise<Page> {
  const look = { ...viewOf(range), from, limit: LOG_ANSWER_BYTES };
  if (range.view === "raw") return client.processes.logBytes(range.id, look);
  const answer = await client.processes.log(range.id, look);
  return { ...answer, data: toBytes(answer) };
}

export function toBytes(answer: { data: string; encoding: "utf-8" | "base64" }): Buffer {
  return Buffer.from(answer.data, answer.encoding === "base64" ? "base64" : "utf8");
}

function viewOf({ view, stream }: LogRange) {
  return { view, ...(stream ? { stream } : {}) };
}

/** Where to begin reading, and how many bytes of what is read then belong to earlier lines. */
async function findLastLines(client: Client, range: LogRange, lines: number): Promise<{ from: number; skip: number }> {
  const { end } = await client.processes.log(range.id, { tail: 1 });
  for (let size = WINDOW_BYTES; ; size *= 2) {
    const from = Math.max(0, end - size);
    const parts: Uint8Array[] = [];
    for await (const page of pages(from, range.signal, (at) => fetchPage(client, range, at))) parts.push(page.data);
    const skip = startOfLastLines(Buffer.concat(parts), lines);
    if (skip !== undefined) return { from, skip };
    if (from === 0 || size >= WINDOW_MOST_BYTES) return { from, skip: 0 };
  }
}

/** Where the last `lines` begin in `data`; undefined when they may begin before it. A final newline ends its line. */
export function startOfLastLines(data: Buffer, lines: number): number | undefined {
  if (lines === 0) return data.length;
  let at = data.at(-1) === 0x0a ? data.length - 1 : data.length;
  for (let found = 0; found < lines; found++) {
    at = at > 0 ? data.lastIndexOf(0x0a, at - 1) : -1;
    if (at < 0) return undefined;
  }
  return at + 1;
}
