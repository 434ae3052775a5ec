import type { Log } from "../base/index.ts";
import type { Metrics, Operations } from "../operations/index.ts";
import type { ReplyHeaders } from "./answer.ts";
import type { Gate } from "./auth.ts";
import type { Exchange } from "./exchange.ts";
import type { McpDoor } from "./mcp.ts";
import type { OpenRequests } from "./open-requests.ts";

/** What one request needs. */
export interface AppRooms {
  readonly operations: Operations;
  readonly gate: Gate;
  readonly open: OpenRequests;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly version: string;
  /** Absent: there is no `/mcp`. */
  readonly mcp?: McpDoor | undefined;
}

/** Answers one request that was let in. */
export type Handler = (turn: Turn) => Promise<Response> | Response;

/** One request that was let in. */
export interface Turn {
  readonly exchange: Exchange;
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: ReplyHeaders;
  /** A stream takes this and calls it at its end; the access line is written then. */
  defer(): () => void;
}
