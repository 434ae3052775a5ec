// http: the REST, SSE and WebSocket door of the daemon.
//
// Routes are read from contract's table; this room only translates: a request into an operation's input and a Caller, an answer or
// a Fault into bytes. One handler per route and no layers between, because POST /start and GET output must cost about 100 µs here.
//
// Invariants: nothing but `open` routes answers without a token (the Unix socket is its own proof), and every request passes the
// Host and Origin checks; bodies are bounded before they are buffered; a slow reader costs a bounded buffer; whoever hangs up
// aborts the operation's signal; `close()`, like the end of a token, tells every stream why it ends.
//
// Read: app.ts (one request), exchange.ts, auth.ts, read-input.ts, parse-body.ts, answer.ts; then sse.ts, websocket.ts, listen.ts.
import type { Log } from "../base/index.ts";
import type { Metrics, Operations } from "../operations/index.ts";
import { createApp } from "./app.ts";
import { type AuthOptions, createGate } from "./auth.ts";
import type { Arrival } from "./exchange.ts";
import { type Listening, type ListenOptions, listen } from "./listen.ts";
import type { McpDoor } from "./mcp.ts";
import { OpenRequests } from "./open-requests.ts";

export type { AuthOptions, Door, TokenBook } from "./auth.ts";
export type { Arrival } from "./exchange.ts";
export type { Listening, ListenOptions } from "./listen.ts";
export type { McpDoor, McpVisit } from "./mcp.ts";
export { buildOpenApi } from "./openapi.ts";

/** What the door needs: the operations it translates to, who may call, and where to write what happened. */
export interface HttpOptions {
  readonly operations: Operations;
  readonly auth: AuthOptions;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly version: string;
  /** What `/mcp` is answered by; absent: there is none. */
  readonly mcp?: McpDoor | undefined;
}

/** The door, closed until `listen`. `fetch` answers one request without a socket. */
export interface Http {
  fetch(request: Request, arrival: Arrival): Promise<Response>;
  listen(options: ListenOptions): Promise<Listening>;
}

/** Makes the door. */
export function createHttp(options: HttpOptions): Http {
  const { auth } = options;
  const open = new OpenRequests(auth.tokens);
  auth.tokens.watch((tokenId, why) => open.endToken(tokenId, why));
  const rooms = { ...options, gate: createGate(auth), open };
  const app = createApp(rooms);
  const fetch = async (request: Request, arrival: Arrival) => app.fetch(request, arrival);
  return { fetch, listen: (where) => listen({ ...rooms, fetch }, where) };
}
