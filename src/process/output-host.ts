import type { EndReason, ExitFacts, ProcessFacts } from "../contract/index.ts";
import { type ControlConnection, LogFile, type RunDirectories } from "../native/index.ts";
import { type Piece, type Summary, summarise, summaryRanges } from "./output-summary.ts";
import type { ProcessRecord } from "./record.ts";

/** What the readers of output need of a supervisor. */
export interface OutputHost {
  readonly dirs: RunDirectories;
  /** One request over the shared connection to its shim. */
  use<T>(record: ProcessRecord, work: (connection: ControlConnection) => Promise<T>): Promise<T>;
  /** Compares the record with the truth on disk. */
  refresh(record: ProcessRecord): void;
}

/** Opens the log for one reader; without a byte of output there is none. */
export function useLog<T>(host: OutputHost, record: ProcessRecord, use: (log: LogFile | undefined) => T): T {
  const log = mayHaveOutput(record) ? LogFile.open(host.dirs, record.id, record.ended) : undefined;
  try {
    return use(log);
  } finally {
    log?.close();
  }
}

/** Silent commands are many; for one that has ended no file need be opened. */
function mayHaveOutput({ running, facts }: ProcessRecord): boolean {
  return running || facts.log_end > 0 || facts.leftover_count > 0 || !facts.supervised;
}

/** Every kept byte of a range, gaps left out. */
export function readPieces(log: LogFile, from: number, to: number): Piece[] {
  const pieces: Piece[] = [];
  for (let at = from; at < to; ) {
    const got = log.read(at, to);
    if (got.data.length === 0) break;
    pieces.push({ from: got.from, data: got.data });
    at = got.to;
  }
  return pieces;
}

/** Head and tail of a range, as text. */
export function readSummary(log: LogFile | undefined, from: number, to: number): Summary {
  if (!log || from >= to) return { output: "" };
  const pieces = summaryRanges(from, to).flatMap(([a, b]) => readPieces(log, a, b));
  return summarise({ from, to, pieces });
}

/** How it ended, in wire words; empty while it runs. */
export function exitFields(facts: ProcessFacts): { exit_code?: number; signal?: string; reason?: EndReason } {
  const fields: { exit_code?: number; signal?: string; reason?: EndReason } = {};
  if (facts.exit_code !== undefined) fields.exit_code = facts.exit_code;
  if (facts.signal !== undefined) fields.signal = facts.signal;
  if (facts.reason !== undefined) fields.reason = facts.reason;
  return fields;
}

/** The `exit` message of streams and attachments. */
export function toExitFacts(facts: ProcessFacts): ExitFacts {
  return {
    ...exitFields(facts),
    exit_code: facts.exit_code ?? -1,
    exited_at: new Date(facts.exited_at_ms ?? facts.ended_at_ms ?? facts.started_at_ms).toISOString(),
    log_end: facts.log_end,
    leftover_count: facts.leftover_count,
  };
}
