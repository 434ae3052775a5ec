import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import { type Access, logAccess } from "./access-log.ts";
import { answerFault, toFault } from "./answer.ts";
import { type Door, TOKEN_PROTOCOL } from "./auth.ts";
import { readAsker, toCaller } from "./caller.ts";
import { allowedMethods } from "./other-methods.ts";
import { type Opened, type SocketRoute, socketRoutes } from "./socket-routes.ts";
import type { AppRooms } from "./turn.ts";

/** What the client offers beside its token, so that the answer does not have to repeat the token. */
const PROTOCOL = "drover";

/** One server per route: each has its own bound of a frame and its own compression. */
type Servers = ReadonlyMap<SocketRoute, WebSocketServer>;

/** Accepts WebSockets on a listener; returns a function that ends those that are left. */
export function acceptWebSockets(server: Server, door: Door, rooms: AppRooms): () => void {
  const servers: Servers = new Map(socketRoutes.map((route) => [route, createServer(route, door)]));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", (error) => ignore(error, "the peer is gone; `close` follows"));
    serve({ request, socket, head }, door, rooms, servers).catch((error: unknown) => {
      rooms.log.error("upgrade failed", { error });
      socket.destroy();
    });
  });
  return () => {
    for (const sockets of servers.values()) {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    }
  };
}

function createServer(route: SocketRoute, door: Door): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    maxPayload: route.frameBytes,
    perMessageDeflate: door.kind === "tcp" ? route.compression : false,
    handleProtocols: chooseProtocol,
  });
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function serve(upgrade: Upgrade, door: Door, rooms: AppRooms, servers: Servers): Promise<void> {
  const { request, socket, head } = upgrade;
  const startedAt = performance.now();
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  const header = (name: string) => firstOf(request.headers[name]);
  const asker = readAsker(header, gone.signal);
  let who: Access["caller"] = asker;
  const { path, search } = pathOf(request);
  const route = socketRoutes.find(({ pattern }) => pattern.test(path));
  const id = route?.pattern.exec(path)?.[1];
  const finish = (status: number) => {
    rooms.metrics.request(status);
    const operation = route?.operation ?? "none";
    logAccess(rooms.log, { caller: who, operation, method: "GET", status, startedAt, processId: id });
  };
  let opened: Opened;
  let sockets: WebSocketServer | undefined;
  try {
    const visitor = { door, header, open: false, upgrade: true };
    rooms.gate.checkSource(visitor);
    const caller = toCaller(asker, rooms.gate.checkToken(visitor));
    who = caller;
    sockets = route && servers.get(route);
    if (!route || !sockets) throw noSocket(path);
    opened = await route.open({ id: decodeURIComponent(id ?? ""), search }, caller, rooms);
  } catch (error) {
    const fault = toFault(error, rooms.log, asker.requestId);
    await refuse(socket, answerFault(fault, { "X-Request-Id": asker.requestId }));
    return finish(fault.facts.status);
  }
  if (socket.destroyed) return opened.close();
  sockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
    opened.serve(webSocket).then(
      () => finish(101),
      (error: unknown) => rooms.log.error("a WebSocket failed", { error, request_id: asker.requestId }),
    );
  });
  // A handshake that `ws` itself refused never calls back.
  socket.once("close", () => opened.close());
}

function noSocket(path: string): Fault {
  if (allowedMethods(path).length > 0) return new Fault("request/invalid", `${path} does not speak WebSocket.`);
  return new Fault("route/not-found", `No route has the path ${path}.`);
}

function pathOf(request: IncomingMessage): { path: string; search: string } {
  const url = request.url ?? "/";
  const at = url.indexOf("?");
  return at === -1 ? { path: url, search: "" } : { path: url.slice(0, at), search: url.slice(at + 1) };
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Browsers drop a connection whose answer names none of the offered protocols. */
function chooseProtocol(offered: Set<string>): string | false {
  if (offered.has(PROTOCOL)) return PROTOCOL;
  return [...offered].find((entry) => entry.startsWith(TOKEN_PROTOCOL)) ?? false;
}

/** The same answer as any other route's, written by hand because the socket has left HTTP. */
async function refuse(socket: Duplex, response: Response): Promise<void> {
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const lines = [
    `HTTP/1.1 ${response.status} Refused`,
    ...headers,
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
