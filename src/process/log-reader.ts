import { firstBorder, ignore, isValidUtf8, lastBorder } from "../base/index.ts";
import {
  Fault,
  LOG_ANSWER_BYTES,
  type LogAnswer,
  type OperationInput,
  type OutputAnswer,
  SCREEN_REPLAY_BYTES,
} from "../contract/index.ts";
import type { LogFile, Range } from "../native/index.ts";
import { exitFields, type OutputHost, readPieces, readSummary, useLog } from "./output-host.ts";
import type { ProcessRecord } from "./record.ts";
import { renderScreen } from "./screen-view.ts";
import { readStream } from "./stream-filter.ts";
import { renderText } from "./text-view.ts";

export type LogQuery = Omit<OperationInput<"process.log">, "id">;

/** Log bytes as they are. */
export interface LogBytes {
  from: number;
  to: number;
  end: number;
  next: number;
  dropped: Range[];
  data: Buffer;
}

/** Room for the longest character, so that a page always gets on. */
const CHARACTER_BYTES = 4;
const DEFAULT_SIZE = { cols: 80, rows: 24 };

/** Head and tail of all output, with the state read before it: `running: false` means that the output is complete. */
export function readOutput(host: OutputHost, record: ProcessRecord): Omit<OutputAnswer, "leftovers"> {
  const { running, facts } = record;
  return useLog(host, record, (log) => {
    const end = log?.end() ?? 0;
    const to = log && running ? characterEnd(log, end) : end;
    return {
      ...readSummary(log, 0, to),
      running,
      ...exitFields(facts),
      command: record.meta.command,
      log_end: Math.max(end, facts.log_end),
    };
  });
}

/** One page of the log, in the asked view. */
export async function readLog(host: OutputHost, record: ProcessRecord, query: LogQuery): Promise<LogAnswer> {
  if (query.view === "screen") return readScreen(host, record, query);
  const isFinal = record.ended;
  const bytes = readLogBytes(host, record, query);
  const { data, ...facts } = bytes;
  if (query.view === "text") {
    const kept = query.stream === undefined ? cutAtLine(bytes, query.to ?? bytes.end, isFinal) : data;
    const to = facts.from + kept.length;
    const place = query.stream === undefined ? { to, next: to } : {};
    return { ...facts, ...place, data: renderText(kept.toString("utf8")), encoding: "utf-8" };
  }
  const cut = cutAtCharacter(bytes, isFinal);
  const held = data.length - cut.length;
  const encoding = isValidUtf8(cut) ? "utf-8" : "base64";
  return {
    ...facts,
    to: facts.to - held,
    next: facts.next - held,
    data: cut.toString(encoding === "utf-8" ? "utf8" : "base64"),
    encoding,
  };
}

/** One page of bytes: from the first kept byte on, up to a gap, the limit, or the end. */
export function readLogBytes(host: OutputHost, record: ProcessRecord, query: LogQuery): LogBytes {
  if (query.stream !== undefined && record.meta.streams !== "split") {
    throw new Fault("request/invalid", 'This process was not started with `streams: "split"`.', {
      validations: [{ field: "stream", detail: 'only with streams: "split"' }],
    });
  }
  return useLog(host, record, (log) => {
    const end = log?.end() ?? 0;
    const { from, to } = placeOf(query, end);
    if (!log || from >= to) return { from, to: from, end, next: from, dropped: [], data: Buffer.alloc(0) };
    if (query.stream) return { ...readStream(log, { from, to, stream: query.stream, limit: limitOf(query) }), end };
    const got = readKept(log, from, to, limitOf(query));
    // Nothing kept up to `to`: the gap reaches that far.
    const start = got.data.length === 0 ? to : got.from;
    const skip = query.tail !== undefined && start > 0 ? firstBorder(got.data) : 0;
    const reached = Math.max(start, got.to);
    return {
      from: start + skip,
      to: reached,
      end,
      next: reached,
      dropped: intersecting(log.dropped(), from, reached),
      data: got.data.subarray(skip),
    };
  });
}

/** Ranges that have a byte in common with [from, to). */
export function intersecting(ranges: readonly Range[], from: number, to: number): Range[] {
  return ranges.filter(([a, b]) => a < Math.max(to, from + 1) && b > from);
}

function limitOf(query: LogQuery): number {
  return Math.max(CHARACTER_BYTES, Math.min(query.limit ?? LOG_ANSWER_BYTES, LOG_ANSWER_BYTES));
}

/** Up to `limit` bytes from the first kept one on, however wide the gap before it. */
function readKept(log: LogFile, from: number, to: number, limit: number): { from: number; to: number; data: Buffer } {
  const got = log.read(from, Math.min(to, from + limit));
  if (got.data.length > 0 || got.from >= to) return got;
  return log.read(got.from, Math.min(to, got.from + limit));
}

function placeOf(query: LogQuery, end: number): { from: number; to: number } {
  const to = Math.min(query.to ?? end, end);
  const wanted = query.tail === undefined ? (query.from ?? 0) : to - Math.min(query.tail, limitOf(query));
  const from = Math.min(Math.max(0, wanted), end);
  return { from, to: Math.max(from, to) };
}

/** A character that is not whole yet stays for the next page, unless nobody can complete it. */
function cutAtCharacter({ data, to, end }: LogBytes, isFinal: boolean): Buffer {
  if (isFinal && to >= end) return data;
  const cut = data.subarray(0, lastBorder(data));
  if (!isValidUtf8(cut)) return data;
  return cut.length === 0 && to < end ? data : cut;
}

/** A page of text that is not the last one ends with a whole line where it can, so that no escape sequence is split. */
function cutAtLine({ data, to, end }: LogBytes, asked: number, isFinal: boolean): Buffer {
  if (to >= Math.min(asked, end)) return isFinal || to < end ? data : data.subarray(0, lastBorder(data));
  const newline = data.lastIndexOf(10);
  if (newline >= 0) return data.subarray(0, newline + 1);
  const cut = lastBorder(data);
  return cut === 0 ? data : data.subarray(0, cut);
}

/** Where the last whole character of a growing log ends. */
function characterEnd(log: LogFile, end: number): number {
  const last = log.read(Math.max(0, end - CHARACTER_BYTES), end);
  return end - (last.data.length - lastBorder(last.data));
}

async function readScreen(host: OutputHost, record: ProcessRecord, query: LogQuery): Promise<LogAnswer> {
  const { cols, rows } = await sizeOf(host, record);
  const part = useLog(host, record, (log) => {
    const end = log?.end() ?? 0;
    const to = Math.min(query.to ?? end, end);
    const from = Math.max(0, to - SCREEN_REPLAY_BYTES);
    if (!log) return { from, to, end, dropped: [], pieces: [] };
    return { from, to, end, dropped: intersecting(log.dropped(), from, to), pieces: readPieces(log, from, to) };
  });
  const { pieces, ...facts } = part;
  const screen = await renderScreen(
    pieces.map((piece) => piece.data),
    { cols, rows, isTerminal: record.meta.tty },
  );
  return { ...facts, next: facts.to, data: screen.text, encoding: "utf-8", cols, rows, cursor: screen.cursor };
}

/** As last told to the terminal: by its shim while it lives, by what that left behind, by what was asked for. */
async function sizeOf(host: OutputHost, record: ProcessRecord): Promise<{ cols: number; rows: number }> {
  const { meta } = record;
  const asked = { cols: meta.cols ?? DEFAULT_SIZE.cols, rows: meta.rows ?? DEFAULT_SIZE.rows };
  if (!meta.tty) return asked;
  try {
    const told = record.ended
      ? host.dirs.readState(record.id)?.mark
      : await host.use(record, (connection) => connection.status());
    return { cols: told?.cols || asked.cols, rows: told?.rows || asked.rows };
  } catch (error) {
    ignore(error, "without a shim or a state file the size that was asked for is the best known");
    return asked;
  }
}
