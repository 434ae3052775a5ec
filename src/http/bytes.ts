import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import type { FileBytes } from "../operations/index.ts";
import { answerWith } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { Turn } from "./turn.ts";

/** A peer that neither takes nor sends a byte for this long is given up; as long as some move, a transfer may last for days. */
const STALL_MS = 60_000;

/**
 * The request's body, piece by piece as it comes: the next is asked for when the one before was dealt with. It ends only where the
 * sender ended it; anything else that stops it is an error, so that nobody takes a part for the whole.
 */
export async function* readBytes({ request, caller }: Exchange, stallMs = STALL_MS): AsyncGenerator<Uint8Array> {
  if (!request.body) return;
  const reader = request.body.getReader();
  const interruption = createInterruption(caller.signal, stallMs);
  try {
    for (;;) {
      const { done, value } = await interruption.wait(reader.read());
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof Fault || caller.signal.aborted) throw error;
    const words = "The connection ended before the body did; nothing was changed.";
    throw new Fault("request/invalid", words, { cause: error });
  } finally {
    interruption.close();
    reader.cancel().catch((error: unknown) => ignore(error, "the body is gone already"));
  }
}

/** Lets one thing at a time be waited for, until the request is aborted or nothing came for too long. */
function createInterruption(signal: AbortSignal, stallMs: number) {
  // Not a race with one lasting promise, which would keep every chunk that it was raced with.
  let reject: (error: unknown) => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const words = `Nothing of the body came for ${stallMs / 1000} s, so nothing was changed. Send it again.`;
  return {
    wait<T>(wanted: Promise<T>): Promise<T> {
      clearTimeout(timer);
      return new Promise<T>((resolve, fail) => {
        reject = fail;
        // It may have happened while nobody waited.
        if (signal.aborted) abort();
        timer = setTimeout(() => fail(new Fault("request/stalled", words)), stallMs);
        wanted.then(resolve, fail);
      });
    },
    close() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

/** Bytes of a known number. When fewer can be had the connection is cut: the status is long out, and only that tells the reader. */
export async function answerBytes(file: FileBytes, turn: Turn, open: OpenRequests): Promise<Response> {
  const { exchange } = turn;
  const isHead = exchange.request.method === "HEAD";
  if (isHead || exchange.caller.signal.aborted || file.length === 0) await file.close();
  const isEmpty = isHead || file.length === 0;
  return answerWith(isEmpty ? null : createBody(file, turn, open), file.type, {
    ...turn.headers,
    "Content-Length": String(file.length),
    "Drover-File-Size": String(file.size),
    // Whatever the file is, it gets no right of this origin in a browser.
    "Content-Security-Policy": "sandbox",
  });
}

function createBody(file: FileBytes, turn: Turn, open: OpenRequests): ReadableStream<Uint8Array> {
  const { caller, arrival } = turn.exchange;
  const finish = turn.defer();
  const chunks = file.chunks();
  const cut = () => {
    end();
    arrival.outgoing?.destroy();
  };
  let timer = setTimeout(cut, STALL_MS);
  const forget = open.add(caller, cut);
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    forget();
    finish();
    // The generator closes the file at its end; one that never began has to be closed here.
    const closed = chunks.return(undefined).then(() => file.close());
    closed.catch((error: unknown) => ignore(error, "nothing was written, so nothing is lost"));
  };
  if (caller.signal.aborted) end();
  else caller.signal.addEventListener("abort", end, { once: true });
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      clearTimeout(timer);
      try {
        const { done, value } = await chunks.next();
        if (!done) {
          controller.enqueue(value);
          if (!isOver) timer = setTimeout(cut, STALL_MS);
          return;
        }
        controller.close();
        end();
      } catch (error) {
        // Cutting ends the stream too; an error in it besides would be printed by the adapter.
        if (!arrival.outgoing) controller.error(error);
        cut();
      }
    },
    cancel: end,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}
