import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { ignore, type Log } from "../base/index.ts";
import type { Metrics, SseMessage } from "../operations/index.ts";
import { allHeaders, answerWith, faultBody, toFault } from "./answer.ts";
import { EventEncoder } from "./event-encoder.ts";
import { Feed, type Step } from "./feed.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { Turn } from "./turn.ts";

/** A comment this often tells both sides that the connection lives. */
const KEEP_ALIVE_MS = 15_000;
const TYPE = "text/event-stream; charset=utf-8";

export interface StreamRooms {
  readonly open: OpenRequests;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * An event stream that is pulled: the next message is asked for only when the connection has taken the one before, so a slow
 * reader holds one message (64 KiB of log) and the socket's own buffer, however fast the process talks.
 */
export async function answerStream(
  messages: AsyncIterable<SseMessage>,
  turn: Turn,
  rooms: StreamRooms,
): Promise<Response> {
  const feed = new Feed(messages, KEEP_ALIVE_MS);
  // A fault that is known at once must still become a status of its own.
  await feed.begin();
  const headers = { ...turn.headers, "X-Accel-Buffering": "no" };
  if (turn.exchange.request.method === "HEAD") {
    stop(feed, turn);
    return answerWith(null, TYPE, headers);
  }
  const stream = openStream(feed, turn, rooms);
  const { outgoing } = turn.exchange.arrival;
  if (!outgoing) return answerWith(createBody(stream), TYPE, headers);
  outgoing.writeHead(200, allHeaders(TYPE, headers));
  outgoing.flushHeaders();
  pump(stream, outgoing).catch((error: unknown) => {
    rooms.log.error("an event stream was cut off", { error });
    outgoing.destroy();
  });
  return RESPONSE_ALREADY_SENT;
}

/** One stream as bytes, which are good until the next are asked for; `end` is called once, however it came about. */
interface Stream {
  next(): Promise<{ bytes: Buffer; isLast: boolean }>;
  end(): void;
}

function openStream(feed: Feed<SseMessage>, turn: Turn, rooms: StreamRooms): Stream {
  const finish = turn.defer();
  const forget = rooms.open.add(turn.exchange.caller, (why) => feed.fail(why));
  rooms.metrics.sse(1);
  const end = once(() => {
    forget();
    rooms.metrics.sse(-1);
    finish();
    stop(feed, turn);
  });
  // A client that hung up before the first byte neither reads nor cancels.
  const { signal, requestId } = turn.exchange.caller;
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  const encoder = new EventEncoder();
  const encode = (step: Step<SseMessage>): Buffer => {
    if (step.kind === "value") return encoder.encode(step.value);
    encoder.rest();
    if (step.kind === "silence") return keepAlive;
    if (step.kind === "done" || signal.aborted) return nothing;
    return encoder.encode({ event: "error", data: faultBody(toFault(step.error, rooms.log, requestId)) });
  };
  return {
    async next() {
      const step = await feed.next();
      return { bytes: encode(step), isLast: step.kind === "done" || step.kind === "error" };
    },
    end,
  };
}

const keepAlive = Buffer.from(": keep-alive\n\n");
const nothing = Buffer.alloc(0);

/** Straight into the connection, whose callback tells when the kernel has the bytes. */
async function pump(stream: Stream, outgoing: ServerResponse): Promise<void> {
  for (let isLast = false; !isLast && !outgoing.destroyed; ) {
    const next = await stream.next();
    isLast = next.isLast;
    if (next.bytes.length > 0) await new Promise<void>((resolve) => outgoing.write(next.bytes, () => resolve()));
  }
  outgoing.end();
  stream.end();
}

/** The same for those who call the app without a connection. */
function createBody(stream: Stream): ReadableStream<Uint8Array> {
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { bytes, isLast } = await stream.next();
      if (bytes.length > 0) controller.enqueue(Buffer.from(bytes));
      if (!isLast) return;
      controller.close();
      stream.end();
    },
    cancel: () => stream.end(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** The signal first: a generator that waits takes note of `return` only after its wait ended. */
function stop(feed: Feed<SseMessage>, turn: Turn): void {
  turn.exchange.abort();
  feed.close().catch((error: unknown) => ignore(error, "the reader is gone; nobody can be told"));
}

function once(call: () => void): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    call();
  };
}
