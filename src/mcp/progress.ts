import { ignore } from "../base/index.ts";
import type { OwnCall } from "../contract/index.ts";
import type { Invoke } from "./invoke.ts";

/** Between two notifications of one call. */
const EVERY_MS = 2_000;
/** Enough of the log's end to hold its last line. */
const TAIL_BYTES = 2_048;
const LINE_CHARACTERS = 200;
/** The started process is among the newest. */
const NEWEST = 100;

export interface ProgressOptions {
  readonly invoke: Invoke;
  readonly call: OwnCall;
  /** Of the call itself, by which the process it starts is found. */
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Tells the client; seconds since the call began, and a line for people. */
  notify(seconds: number, message: string): Promise<void>;
}

/** Tells how long a call has lasted and what its process wrote last, until it is stopped. */
export function reportProgress(o: ProgressOptions): () => void {
  const begun = performance.now();
  const named = o.call.arguments["process_id"];
  let id = typeof named === "string" ? named : undefined;
  let busy = false;
  const tick = async () => {
    if (busy || o.signal.aborted) return;
    busy = true;
    try {
      id ??= await findStarted(o.invoke, o.requestId, o.signal);
      const line = id === undefined ? "" : await readLastLine(o.invoke, id, o.signal);
      const seconds = Math.round((performance.now() - begun) / 1000);
      if (!o.signal.aborted) await o.notify(seconds, line ? `${seconds} s: ${line}` : `${seconds} s`);
    } catch (error) {
      ignore(error, "progress is a courtesy; the call itself tells what is wrong");
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void tick(), EVERY_MS);
  return () => clearInterval(timer);
}

/** The process that a call of ours started, known by the request's id. */
export async function findStarted(invoke: Invoke, requestId: string, signal: AbortSignal): Promise<string | undefined> {
  const { processes } = await invoke.call("process.list", { limit: NEWEST }, { signal });
  return processes.find((process) => process.request_id === requestId)?.id;
}

async function readLastLine(invoke: Invoke, id: string, signal: AbortSignal): Promise<string> {
  const { data } = await invoke.call("process.log", { id, tail: TAIL_BYTES, view: "text" }, { signal });
  return data.trimEnd().split("\n").at(-1)?.trim().slice(0, LINE_CHARACTERS) ?? "";
}
