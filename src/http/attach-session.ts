import { type RawData, WebSocket } from "ws";
import { ignore } from "../base/index.ts";
import { type Caller, Fault, type FaultBody } from "../contract/index.ts";
import type { Attachment } from "../operations/index.ts";
import { faultBody, toFault } from "./answer.ts";
import type { AppRooms } from "./turn.ts";

/** No more output is read for a viewer that has this much waiting. */
const BUFFERED_BYTES = 1 << 20;
const PING_MS = 15_000;
/** Close codes of RFC 6455, section 7.4.1; from 4000 on they are ours, and this one is the status 401. */
const closeCode = { normal: 1000, goingAway: 1001, badData: 1007, failed: 1011, tokenEnded: 4401 } as const;

export interface AttachSession {
  readonly webSocket: WebSocket;
  readonly attachment: Attachment;
  readonly caller: Caller;
  readonly rooms: Pick<AppRooms, "open" | "log" | "metrics">;
}

/** Carries bytes and control messages in both directions until either side ends. */
export async function serveAttachment(session: AttachSession): Promise<void> {
  const { webSocket, attachment, rooms } = session;
  const closed = new Promise<void>((resolve) => webSocket.once("close", () => resolve()));
  webSocket.on("error", (error) => ignore(error, "`close` follows, with the code that says why"));
  const forget = rooms.open.add(session.caller, (why) => dismiss(session, why));
  const stopPinging = keepPinging(webSocket);
  receive(session);
  // Both ends are waited for: the pump ends with the process, `closed` with the viewer.
  const pumped = pump(session, closed);
  await closed;
  attachment.close();
  forget();
  stopPinging();
  await pumped;
}

/** Said twice: as a message for programs, and as the reason of the close. */
function dismiss(session: AttachSession, why: Fault): void {
  const isShutdown = why.code === "daemon/shutting-down";
  if (!isShutdown) complain(session, why);
  session.webSocket.close(isShutdown ? closeCode.goingAway : closeCode.tokenEnded, why.message);
}

async function pump(session: AttachSession, closed: Promise<void>): Promise<void> {
  const { webSocket, attachment, rooms } = session;
  try {
    for await (const item of attachment.output) {
      if (webSocket.readyState !== WebSocket.OPEN) return;
      const isBytes = item instanceof Uint8Array;
      if (isBytes) rooms.metrics.outputRead(item.byteLength);
      const taken = send(webSocket, isBytes ? item : JSON.stringify(item));
      if (webSocket.bufferedAmount >= BUFFERED_BYTES) await Promise.race([taken, closed]);
    }
    webSocket.close(closeCode.normal, "The process has ended.");
  } catch (error) {
    if (webSocket.readyState !== WebSocket.OPEN) return ignore(error, "the viewer left, which ends the output");
    complain(session, error);
    webSocket.close(closeCode.failed, "The output cannot be read.");
  }
}

/** Resolves when the frame has left for the kernel, or cannot any more. */
function send(webSocket: WebSocket, data: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => webSocket.send(data, () => resolve()));
}

/** Input is taken in order, one frame at a time; the socket is not read while a write is under way. */
function receive(session: AttachSession): void {
  const { webSocket } = session;
  let last = Promise.resolve();
  webSocket.on("message", (data: RawData, isBinary: boolean) => {
    webSocket.pause();
    last = last
      .then(() => take(session, data as Buffer, isBinary))
      .catch((error: unknown) => complain(session, error))
      .then(() => webSocket.resume());
  });
}

/** Between our close and the peer's answer frames still arrive; they are nobody's any more. */
async function take(session: AttachSession, data: Buffer, isBinary: boolean): Promise<void> {
  if (session.webSocket.readyState !== WebSocket.OPEN) return;
  await (isBinary ? write(session, data) : control(session, data.toString()));
}

async function write({ attachment }: AttachSession, data: Buffer): Promise<void> {
  if (attachment.readonly) throw new Fault("request/invalid", "This attachment is read-only; input is not passed on.");
  await attachment.write(data);
}

async function control(session: AttachSession, text: string): Promise<void> {
  const message = parseControl(text);
  if (!message) {
    session.webSocket.close(closeCode.badData, "Text frames must be JSON objects.");
    return;
  }
  if (message["type"] !== "resize") {
    throw new Fault("request/invalid", `There is no message of type "${String(message["type"])}". Known: resize.`);
  }
  if (session.attachment.readonly)
    throw new Fault("request/invalid", "This attachment is read-only; it cannot resize.");
  const { cols, rows } = message;
  if (!isSize(cols) || !isSize(rows))
    throw new Fault("request/invalid", "`cols` and `rows` must be integers from 1 to 1000.");
  await session.attachment.resize(cols, rows);
}

function parseControl(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    ignore(error, "undefined says it");
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000;
}

function complain({ webSocket, rooms, caller }: AttachSession, error: unknown): void {
  if (webSocket.readyState !== WebSocket.OPEN) return;
  const body: FaultBody = faultBody(toFault(error, rooms.log, caller.requestId));
  webSocket.send(JSON.stringify({ type: "error", ...body }));
}

/** A viewer that owes a pong though nothing waits to be sent to it is gone. */
function keepPinging(webSocket: WebSocket): () => void {
  let owes = false;
  webSocket.on("pong", () => {
    owes = false;
  });
  const timer = setInterval(() => {
    if (owes && webSocket.bufferedAmount === 0) return webSocket.terminate();
    owes = true;
    webSocket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}
