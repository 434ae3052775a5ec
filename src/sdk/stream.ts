import { Fault, type OperationName } from "../contract/index.ts";
import { ask, type CallInput, toFault, toUnreachable } from "./call.ts";
import type { Connection } from "./connection.ts";
import { type SseEvent, SseParser } from "./sse.ts";

/** The daemon says something at least every 15 s; after three of those the connection is taken for dead. */
const SILENCE_MS = 45_000;
const FIRST_DELAY_MS = 50;
const LAST_DELAY_MS = 2_000;

/** Faults that time repairs: the daemon restarts, or was busy. */
const passing: readonly string[] = ["client/unreachable", "daemon/shutting-down", "daemon/overloaded"];

export interface StreamRequest {
  readonly name: OperationName;
  /** Asked before every connection, so that it can say how far the reader got. */
  input(): CallInput;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Events of a stream over as many connections as it takes. Ends when the signal fires; throws when the first connection fails, or
 * when the daemon gives a reason that time does not repair. The reader stops at the event that means the end.
 */
export async function* readStream(connection: Connection, request: StreamRequest): AsyncGenerator<SseEvent> {
  const { signal } = request;
  let wasConnected = false;
  let delay = FIRST_DELAY_MS;
  while (!signal?.aborted) {
    try {
      for await (const event of connectOnce(connection, request, () => (wasConnected = true))) {
        if (event.event === "error") throw toFault(connection, 500, event.data);
        delay = FIRST_DELAY_MS;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!wasConnected || !(error instanceof Fault) || !passing.includes(error.code)) throw error;
    }
    await sleep(delay, signal);
    delay = Math.min(delay * 2, LAST_DELAY_MS);
  }
}

async function* connectOnce(
  connection: Connection,
  request: StreamRequest,
  onOpen: () => void,
): AsyncGenerator<SseEvent> {
  const attempt = new AbortController();
  const abort = () => attempt.abort(request.signal?.reason);
  request.signal?.addEventListener("abort", abort, { once: true });
  try {
    const headers = { Accept: "text/event-stream" };
    const answer = await ask(connection, request.name, request.input(), { signal: attempt.signal, headers });
    onOpen();
    const parser = new SseParser();
    for await (const chunk of watched(answer.chunks(), () => attempt.abort())) yield* parser.push(chunk);
  } catch (error) {
    // Silence and a broken connection are one thing to the reader.
    throw toUnreachable(connection, error);
  } finally {
    request.signal?.removeEventListener("abort", abort);
    attempt.abort();
  }
}

/** The clock runs only while something is waited for: a reader that takes its time is not the connection's fault. */
async function* watched(chunks: AsyncIterable<Uint8Array>, onSilence: () => void): AsyncGenerator<Uint8Array> {
  let timer = setTimeout(onSilence, SILENCE_MS);
  try {
    for await (const chunk of chunks) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(onSilence, SILENCE_MS);
    }
  } finally {
    clearTimeout(timer);
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake, { once: true });
  });
}
