import { lastBorder, systemClock } from "../base/index.ts";
import type { OperationInput, SearchAnswer } from "../contract/index.ts";
import { LogFile } from "../native/index.ts";
import { intersecting } from "./log-reader.ts";
import { type OutputHost, readPieces } from "./output-host.ts";
import { compilePattern, type LinesJob, type Pattern } from "./pattern.ts";
import { PatternPool } from "./pattern-pool.ts";
import type { ProcessRecord } from "./record.ts";

export type SearchQuery = Omit<OperationInput<"process.search">, "id">;

/** Read at a time by the main thread: a fraction of a millisecond. A longer line is searched in parts of this size. */
const SLICE_BYTES = 1 << 20;
/** Context comes from this much around a slice. */
const MARGIN_BYTES = 64 << 10;
/** Looked through by one call; `next` goes on. */
const SCAN_BYTES = 256 << 20;
const DEFAULT_LIMIT = 100;

/** The threads that run patterns, attached to the supervisor that they work for. */
const pools = new WeakMap<OutputHost, PatternPool>();

export function patternPool(host: OutputHost): PatternPool {
  let pool = pools.get(host);
  if (!pool) {
    pool = new PatternPool(systemClock);
    pools.set(host, pool);
  }
  return pool;
}

/** Ends the threads of a supervisor that closes. */
export async function closePatterns(host: OutputHost): Promise<void> {
  const pool = pools.get(host);
  pools.delete(host);
  await pool?.close();
}

/** Lines that match, with their offsets. Reading is here, in slices; matching is in a thread that can be ended. */
export async function searchLog(
  host: OutputHost,
  record: ProcessRecord,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const pattern: Pattern = { source: query.q, isRegex: query.regex === true, ignoreCase: query.ignore_case === true };
  compilePattern(pattern);
  const log = LogFile.open(host.dirs, record.id);
  const from = query.from ?? 0;
  if (!log) return { matches: [], searched: [from, from], dropped: [] };
  try {
    return await searchSlices(log, patternPool(host), { ...query, pattern, from, signal });
  } finally {
    log.close();
  }
}

/** data[from, to) is searched; `base` is where data lies in the log. */
type Slice = Pick<LinesJob, "base" | "data" | "from" | "to">;

interface Search extends SearchQuery {
  pattern: Pattern;
  from: number;
  signal: AbortSignal;
}

async function searchSlices(log: LogFile, pool: PatternPool, search: Search): Promise<SearchAnswer> {
  const limit = search.limit ?? DEFAULT_LIMIT;
  const end = log.end();
  const matches: SearchAnswer["matches"] = [];
  const answer = (to: number, next?: number): SearchAnswer => ({
    matches,
    searched: [search.from, Math.max(search.from, to)],
    ...(next === undefined ? {} : { next }),
    dropped: intersecting(log.dropped(), search.from, to),
  });
  let at = search.from;
  for (let scanned = 0; at < end && scanned < SCAN_BYTES; ) {
    search.signal.throwIfAborted();
    const slice = readSlice(log, at, end, search.context ?? 0);
    if (!slice) return answer(end);
    const job: LinesJob = {
      kind: "lines",
      pattern: search.pattern,
      ...slice,
      context: search.context ?? 0,
      limit: limit - matches.length,
    };
    at = slice.base + slice.to;
    scanned += slice.to - slice.from;
    matches.push(...(await pool.lines(job)));
    const last = matches.at(-1);
    if (matches.length >= limit && last) {
      const next = Math.min(end, last.to + 1);
      return next < end ? answer(next, next) : answer(end);
    }
  }
  return at < end ? answer(at, at) : answer(end);
}

/** Whole lines from the first kept byte at or behind `at`, with what lies around them for context. */
function readSlice(log: LogFile, at: number, end: number, context: number): Slice | undefined {
  const start = log.read(at, Math.min(end, at + 1)).from;
  const margin = context > 0 ? MARGIN_BYTES : 0;
  const wanted = Math.min(end, start + SLICE_BYTES + margin);
  const piece = readPieces(log, Math.max(0, start - margin), wanted).find((p) => p.from + p.data.length > start);
  if (!piece) return undefined;
  const from = Math.max(0, start - piece.from);
  const most = Math.min(piece.data.length, from + SLICE_BYTES);
  // A piece that stops before what was asked for stops at a gap or at the end, where a line is over anyway.
  const isOver = most === piece.data.length && (piece.from + most < wanted || wanted === end);
  const to = isOver ? most : lineBorder(piece.data, from, most);
  return { base: piece.from, data: new Uint8Array(piece.data), from, to };
}

function lineBorder(data: Buffer, from: number, most: number): number {
  const newline = data.lastIndexOf(10, most - 1);
  if (newline >= from) return newline + 1;
  const border = lastBorder(data, most);
  return border > from ? border : most;
}
