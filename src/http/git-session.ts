import { type RawData, WebSocket } from "ws";
import { ignore } from "../base/index.ts";
import type { Caller, Fault } from "../contract/index.ts";
import type { GitMessage, GitWatching } from "../operations/index.ts";
import { faultBody, toFault } from "./answer.ts";
import { COMPRESS_BYTES } from "./compress-bytes.ts";
import type { AppRooms } from "./turn.ts";

/** As in the original: a ping this often, and as long to answer it. */
const PING_MS = 15_000;
/** A reader that takes nothing for so long has stopped reading. */
const STALL_MS = 30_000;
/** Close codes of RFC 6455, section 7.4.1, and of the IANA's list; from 4000 on they are ours, and 4401 is the status 401. */
const closeCode = {
  goingAway: 1001,
  unsupported: 1003,
  badData: 1007,
  failed: 1011,
  tryAgainLater: 1013,
  tokenEnded: 4401,
} as const;

export interface GitWatchSession {
  readonly webSocket: WebSocket;
  readonly watching: GitWatching;
  readonly caller: Caller;
  readonly rooms: Pick<AppRooms, "open" | "log">;
}

/** Tells of changes until either side ends. One message is under way at a time; what is taken too slowly is not queued. */
export async function serveGitWatch(session: GitWatchSession): Promise<void> {
  const { webSocket, rooms, caller } = session;
  const closed = new Promise<void>((resolve) => webSocket.once("close", () => resolve()));
  webSocket.on("error", (error) => ignore(error, "`close` follows, with the code that says why"));
  const forget = rooms.open.add(caller, (why) => dismiss(session, why));
  const stopPinging = keepPinging(webSocket);
  receive(session);
  const pumped = pump(session);
  await closed;
  forget();
  stopPinging();
  await pumped;
}

async function pump(session: GitWatchSession): Promise<void> {
  const { webSocket, watching, rooms, caller } = session;
  try {
    for await (const message of watching.messages) {
      if (webSocket.readyState !== WebSocket.OPEN) return;
      const stalled = setTimeout(() => {
        webSocket.close(closeCode.tryAgainLater, "Nothing was read for 30 s; connect again.");
      }, STALL_MS);
      await send(webSocket, message);
      clearTimeout(stalled);
    }
  } catch (error) {
    if (webSocket.readyState !== WebSocket.OPEN) return ignore(error, "the watcher left, which ends the messages");
    toFault(error, rooms.log, caller.requestId);
    webSocket.close(closeCode.failed, "The repositories cannot be watched.");
  }
}

/**
 * Resolves when the kernel has taken it, or will not any more. A message has as many fragments as pieces: the large ones are
 * shared, not copied for each watcher.
 */
function send(webSocket: WebSocket, { pieces, bytes }: GitMessage): Promise<void> {
  const compress = bytes >= COMPRESS_BYTES;
  return new Promise((resolve) => {
    for (const [i, piece] of pieces.entries()) {
      const fin = i === pieces.length - 1;
      webSocket.send(piece, { binary: false, compress, fin }, () => fin && resolve());
    }
  });
}

/** Read one at a time, so that whoever asks without reading the answers is held back. */
function receive(session: GitWatchSession): void {
  const { webSocket, watching } = session;
  webSocket.on("message", (data: RawData, isBinary: boolean) => {
    if (isBinary) return webSocket.close(closeCode.unsupported, "Frames must be text.");
    const message = parse((data as Buffer).toString());
    if (!message) return webSocket.close(closeCode.badData, "Frames must be JSON objects.");
    if (message["type"] === "refresh") return watching.refresh();
    webSocket.pause();
    const answer = JSON.stringify({ type: "error", message: "unknown message type" });
    webSocket.send(answer, { compress: false }, () => webSocket.resume());
  });
}

/** `null` is an object without a type, as the original's decoder reads it. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || Array.isArray(value)) return undefined;
    return (value ?? {}) as Record<string, unknown>;
  } catch (error) {
    ignore(error, "undefined says it");
    return undefined;
  }
}

function dismiss({ webSocket }: GitWatchSession, why: Fault): void {
  const isShutdown = why.code === "daemon/shutting-down";
  if (!isShutdown && webSocket.readyState === WebSocket.OPEN) {
    webSocket.send(JSON.stringify({ type: "error", ...faultBody(why) }), { compress: false });
  }
  webSocket.close(isShutdown ? closeCode.goingAway : closeCode.tokenEnded, why.message);
}

function keepPinging(webSocket: WebSocket): () => void {
  let owes = false;
  webSocket.on("pong", () => {
    owes = false;
  });
  const timer = setInterval(() => {
    if (owes && webSocket.bufferedAmount === 0) return webSocket.close(closeCode.goingAway, "A ping was not answered.");
    owes = true;
    webSocket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}
