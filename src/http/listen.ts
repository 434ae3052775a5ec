import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, ListenOptions as NetListenOptions } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Fault } from "../contract/index.ts";
import { answerFault } from "./answer.ts";
import type { Door } from "./auth.ts";
import type { Arrival } from "./exchange.ts";
import type { AppRooms } from "./turn.ts";
import { openSocketPath } from "./unix-socket.ts";
import { acceptWebSockets } from "./websocket.ts";

/** Longer than clients keep an idle connection, so that they close first and no request meets a closing socket. */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_MS = 20_000;
/** After this long at shutdown whoever has not hung up is cut off. */
const CLOSE_GRACE_MS = 1_000;
const SWEEP_MS = 20;

export interface ListenOptions {
  readonly tcp: { readonly host: string; readonly port: number };
  readonly socketPath: string;
}

/** The open door. `close` stops accepting, tells every stream why, and resolves when no connection is left. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export interface ListenRooms extends AppRooms {
  fetch(request: Request, arrival: Arrival): Promise<Response>;
}

export async function listen(rooms: ListenRooms, { tcp, socketPath }: ListenOptions): Promise<Listening> {
  // The port is known only after listening, which is before the first request.
  const tcpDoor: Extract<Door, { kind: "tcp" }> & { port: number } = { kind: "tcp", port: tcp.port };
  const tcpServer = createHttpServer(rooms, tcpDoor);
  await start(tcpServer, { host: tcp.host, port: tcp.port });
  const { port } = tcpServer.address() as AddressInfo;
  tcpDoor.port = port;
  const endTcpSockets = acceptWebSockets(tcpServer, tcpDoor, rooms);
  try {
    const unix = await listenUnix(rooms, socketPath);
    const url = `http://${tcp.host.includes(":") ? `[${tcp.host}]` : tcp.host}:${port}`;
    const close = async () => {
      const closed = [stop(tcpServer, endTcpSockets), unix.close()];
      rooms.open.endAll();
      await Promise.all(closed);
    };
    return { url, port, close };
  } catch (error) {
    await stop(tcpServer, endTcpSockets);
    throw error;
  }
}

async function listenUnix(rooms: ListenRooms, socketPath: string): Promise<{ close(): Promise<void> }> {
  const door: Door = { kind: "unix" };
  const server = createHttpServer(rooms, door);
  const endSockets = acceptWebSockets(server, door, rooms);
  const place = await openSocketPath(socketPath);
  try {
    await start(server, { path: place.bindPath }, (bind) => place.guard(bind));
  } catch (error) {
    place.close();
    throw error;
  }
  return {
    close: () => stop(server, endSockets).finally(() => place.close()),
  };
}

function createHttpServer(rooms: ListenRooms, door: Door): Server {
  const listener = getRequestListener(
    (request, env) => rooms.fetch(request, { door, outgoing: env.outgoing as ServerResponse }),
    { hostname: "localhost", errorHandler: answerUnreadable },
  );
  return createServer(
    // No limit on the whole: a wait may last a day, and Node counts the time of the request alone in `headersTimeout`.
    { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS, requestTimeout: 0 },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
}

/** A request whose Host or target makes no address never reaches the app. */
function answerUnreadable(error: unknown): Response {
  const detail = error instanceof Error ? error.message : String(error);
  return answerFault(
    new Fault("request/invalid", "The request's target or Host header cannot be read.", { detail }),
    {},
  );
}

/** `guard` runs the synchronous part, in which Node binds the socket. */
function start(
  server: Server,
  where: NetListenOptions,
  guard: (bind: () => void) => void = (bind) => bind(),
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(toFault(error, where)));
    guard(() => server.listen(where, () => resolve()));
  });
}

function toFault(error: NodeJS.ErrnoException, where: NetListenOptions): Error {
  if (error.code !== "EADDRINUSE" || where.port === undefined) return error;
  return new Fault(
    "daemon/port-taken",
    `Port ${where.port} is in use. Choose another with --port, or --port 0 for any.`,
    {
      data: { port: where.port },
      cause: error,
    },
  );
}

function stop(server: Server, endSockets: () => void): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Node closes those that are idle now; the rest become idle one by one as their answers end.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cut = setTimeout(() => {
    endSockets();
    server.closeAllConnections();
  }, CLOSE_GRACE_MS);
  return closed.finally(() => {
    clearInterval(sweep);
    clearTimeout(cut);
    endSockets();
  });
}
