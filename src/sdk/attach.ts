import { type ExitFacts, Fault, type FaultBody } from "../contract/index.ts";
import { call, toRequest } from "./call.ts";
import { type Connection, isNode } from "./connection.ts";
import { MessageQueue } from "./message-queue.ts";

export interface AttachOptions {
  /** Replay starts at this byte; without it, where the daemon thinks best. */
  cursor?: number | undefined;
  /** Only watch. */
  readonly?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What an attachment says besides bytes. */
export type AttachMessage =
  | { type: "replay_end"; cursor: number }
  | ({ type: "exit" } & ExitFacts)
  | { type: "dropped"; from: number; to: number }
  | ({ type: "error" } & FaultBody);

/** A terminal, or a pipe, in both directions. */
export interface Attached {
  /** Bytes and messages in order; ends when the process has ended or the attachment was closed. Read it once. */
  readonly output: AsyncIterable<Uint8Array | AttachMessage>;
  /** Resolves when the bytes are on their way. */
  write(data: Uint8Array | string): Promise<void>;
  resize(cols: number, rows: number): Promise<void>;
  close(): void;
}

/** A WebSocket, whoever made it. */
export interface Wire {
  send(data: Uint8Array | string): Promise<void>;
  close(): void;
  pause(): void;
  resume(): void;
}

export interface WireEvents {
  message(data: Uint8Array | string): void;
  close(code: number, reason: string): void;
}

/** Input goes in frames of this size; the daemon refuses larger than 1 MiB. */
const FRAME_BYTES = 64 << 10;
/** Subprotocols by which a browser shows its token: it cannot set headers on a WebSocket. */
const protocolsOf = (token: string | undefined) => (token === undefined ? [] : ["drover", `drover.token.${token}`]);

export async function attach(connection: Connection, id: string, options: AttachOptions = {}): Promise<Attached> {
  const { signal, ...query } = options;
  signal?.throwIfAborted();
  const { path } = toRequest("process.attach", { ...query, id });
  let wire: Wire | undefined;
  const queue = new MessageQueue<Uint8Array | AttachMessage>((isFull) => (isFull ? wire?.pause() : wire?.resume()));
  const events: WireEvents = {
    message: (data) => queue.push(typeof data === "string" ? (JSON.parse(data) as AttachMessage) : data, data.length),
    close: (code, reason) => queue.end(closeFault(connection, code, reason)),
  };
  const opened = isNode()
    ? await connectNode(connection, path, events)
    : await connectBrowser(connection, { id, path }, events);
  const close = () => {
    queue.end();
    opened.close();
  };
  wire = opened;
  signal?.addEventListener("abort", close, { once: true });
  return {
    output: queue,
    write: (data) => writeFrames(opened, typeof data === "string" ? new TextEncoder().encode(data) : data),
    resize: (cols, rows) => opened.send(JSON.stringify({ type: "resize", cols, rows })),
    close,
  };
}

async function writeFrames(wire: Wire, data: Uint8Array): Promise<void> {
  for (let at = 0; at < data.length; at += FRAME_BYTES) await wire.send(data.subarray(at, at + FRAME_BYTES));
}

/** 1000 is the end of the process; anything else has to be told. */
function closeFault(connection: Connection, code: number, reason: string): Fault | undefined {
  if (code === 1000) return undefined;
  if (code === 4401) return new Fault("auth/wrong-token", reason || "The token is no longer valid.");
  if (code === 1001) return new Fault("daemon/shutting-down", reason || "The daemon is shutting down.");
  return new Fault("client/unreachable", `The attachment at ${connection.where} broke off.`, {
    detail: reason || `Code ${code}.`,
  });
}

async function connectNode(connection: Connection, path: string, events: WireEvents): Promise<Wire> {
  const { connectWebSocket } = await import("./node-socket.ts");
  return connectWebSocket(connection, path, events);
}

/** A browser does not say why a WebSocket was refused, so the process itself is asked for. */
async function connectBrowser(
  connection: Connection,
  { id, path }: { id: string; path: string },
  events: WireEvents,
): Promise<Wire> {
  const socket = new WebSocket(
    connection.url.replace(/^http/, "ws").replace(/\/+$/, "") + path,
    protocolsOf(connection.options.token),
  );
  socket.binaryType = "arraybuffer";
  const opened = await new Promise<boolean>((resolve) => {
    socket.onopen = () => resolve(true);
    socket.onclose = () => resolve(false);
  });
  if (!opened) {
    await call(connection, "process.get", { id });
    throw new Fault("client/unreachable", `The attachment at ${connection.where} was refused.`);
  }
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) =>
    events.message(typeof data === "string" ? data : new Uint8Array(data));
  socket.onclose = ({ code, reason }) => events.close(code, reason);
  return {
    send: (data) => Promise.resolve(socket.send(data as Uint8Array<ArrayBuffer>)),
    close: () => socket.close(),
    // A browser's WebSocket cannot be held back.
    pause() {},
    resume() {},
  };
}
