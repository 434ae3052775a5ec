import { setTimeout as sleep } from "node:timers/promises";
import { lastBorder } from "../base/index.ts";
import { type ExitFacts, STREAM_CHUNK_BYTES } from "../contract/index.ts";
import type { LogFile } from "../native/index.ts";
import { Follower } from "./follow.ts";
import { type OutputHost, toExitFacts } from "./output-host.ts";
import type { ProcessRecord } from "./record.ts";

/** One thing that a follower of output sees, in order. */
export type StreamItem =
  | { kind: "output"; from: number; to: number; data: Buffer; stream?: "stdout" | "stderr" }
  | { kind: "dropped"; from: number; to: number }
  | { kind: "exit"; at: number; facts: ExitFacts }
  | { kind: "end"; at: number };

/** Read from disk at a time; what a reader holds at most. */
const BLOCK_BYTES = 256 << 10;
/** A follower that has seen everything for this long holds no memory for what may come. */
const REST_MS = 1_000;
/** While there is more to be read, a follower rests as long as it worked, up to this: it takes half of the daemon's core at most. */
const PAUSE_MAX_MS = 5;

/**
 * Output from a byte on, then live, then the exit, then what leftovers say, then the end. Over early when the signal fires.
 * Everything is read from disk when it is asked for: a slow reader holds nothing in memory and never slows the process; what the
 * ring dropped before it was read comes as `dropped`. With `reuse` the bytes of an item are good until the next is asked for.
 */
export async function* streamItems(
  host: OutputHost,
  record: ProcessRecord,
  from: number,
  { signal, reuse = false }: { signal: AbortSignal; reuse?: boolean },
): AsyncGenerator<StreamItem, void, undefined> {
  const room = reuse ? new Room() : undefined;
  const follower = Follower.open(host, record);
  try {
    let at = from;
    let toldExit = false;
    while (!signal.aborted) {
      // Read before the end of the log is: what a state promises is then on disk.
      const { running, ended, facts } = record;
      const end = follower.end();
      for await (const item of readUpTo(follower.log, at, end, {
        isSplit: record.meta.streams === "split",
        isOpen: running,
        room,
      })) {
        at = item.to;
        yield item;
        if (signal.aborted) return;
      }
      if (!running && !toldExit && at >= Math.min(end, facts.log_end)) {
        toldExit = true;
        yield { kind: "exit", at, facts: toExitFacts(facts) };
      }
      if (ended) return yield { kind: "end", at };
      room?.rest();
      await follower.changed(signal);
    }
  } finally {
    room?.close();
    follower.close();
  }
}

/** The block of a reader that is far behind, kept for the next read; let go when that does not come soon. */
class Room {
  #block: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;

  take(wanted: number): Buffer | undefined {
    clearTimeout(this.#timer);
    if (wanted > STREAM_CHUNK_BYTES) this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    return this.#block;
  }

  rest(): void {
    if (!this.#block) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#block = undefined), REST_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#block = undefined;
  }
}

type OutputItem = Extract<StreamItem, { kind: "output" | "dropped" }>;

async function* readUpTo(
  log: LogFile | undefined,
  from: number,
  end: number,
  o: { isSplit: boolean; isOpen: boolean; room: Room | undefined },
): AsyncGenerator<OutputItem, void, undefined> {
  if (!log) return;
  for (let at = from; at < end; ) {
    const begin = performance.now();
    const block = log.read(at, Math.min(end, at + BLOCK_BYTES), o.room?.take(end - at));
    // Without a byte it is at a gap, whose end it tells; or there is nothing to be had any more.
    const start = block.data.length > 0 ? block.from : block.from > at ? Math.min(end, block.from) : end;
    if (start > at) yield { kind: "dropped", from: at, to: start };
    at = start;
    if (block.data.length === 0) continue;
    const isLast = block.to >= end;
    for (const data of cutBlock(block.data, isLast ? (o.isOpen ? "growing" : "final") : "middle")) {
      yield* o.isSplit ? byStream(log, at, data) : [outputItem(at, data)];
      at += data.length;
    }
    if (isLast) return;
    await sleep(Math.min(PAUSE_MAX_MS, performance.now() - begin));
  }
}

/**
 * Chunks that end at character borders. An incomplete character at the end of the block is read again with what follows; at
 * the growing end of a log it waits for that; before a gap, and at the final end, it is given as it is.
 */
function* cutBlock(block: Buffer, place: "middle" | "growing" | "final"): Generator<Buffer, void, undefined> {
  for (let at = 0; at < block.length; ) {
    const chunk = block.subarray(at, at + STREAM_CHUNK_BYTES);
    const border = lastBorder(chunk);
    const isWhole = place === "final" || (place === "middle" && at === 0 && border === 0);
    const isLast = at + chunk.length === block.length;
    const data = isLast && isWhole ? chunk : chunk.subarray(0, border);
    if (data.length === 0) return;
    yield data;
    at += data.length;
  }
}

/** Pieces of one stream each; what the index does not know comes without a name. */
function* byStream(log: LogFile, from: number, data: Buffer): Generator<OutputItem, void, undefined> {
  const to = from + data.length;
  let at = from;
  for (const part of log.streamsOf(from, to)) {
    if (part.from > at) yield outputItem(at, data.subarray(at - from, part.from - from));
    yield { ...outputItem(part.from, data.subarray(part.from - from, part.to - from)), stream: part.stream };
    at = part.to;
  }
  if (at < to) yield outputItem(at, data.subarray(at - from));
}

function outputItem(from: number, data: Buffer): Extract<StreamItem, { kind: "output" }> {
  return { kind: "output", from, to: from + data.length, data };
}
