import type { FaultCode } from "./faults.ts";
import { fileRoutes } from "./file-routes.ts";
import { gitRoutes } from "./git-routes.ts";
import { tokenRoutes } from "./token-routes.ts";
import { toolRoutes } from "./tool-routes.ts";

/** One route, as plain data: the client and the CLI read it without loading any schema. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** `{id}` stands for a process id. */
  readonly path: string;
  readonly summary: string;
  /** `json`: one value. `sse`: an event stream. `socket`: a WebSocket. `text`: plain text. `bytes`: as they are, streamed. */
  readonly answer: "json" | "sse" | "socket" | "text" | "bytes";
  /**
   * `bytes`: the body is no JSON but bytes, streamed. `arguments`: the JSON object is one field of the input, of that name.
   * Everything else goes into the query.
   */
  readonly body?: "bytes" | "arguments";
  /** An unknown query parameter is refused whoever asks, as in the original API. */
  readonly closedQuery?: true;
  /** An empty body means `{}`; elsewhere it is an error, as in the original API. */
  readonly emptyBody?: true;
  /** Changes something: refused to a token that may only read. */
  readonly changes?: true;
  /** Refused to a token that is bound to a chat. */
  readonly unscoped?: true;
  /** Answers without a token. */
  readonly open?: true;
  readonly faults: readonly FaultCode[];
}

const processes = "/api/v0/processes";
const one = `${processes}/{id}`;
const found = ["process/not-found"] as const;
const bodied = ["request/invalid-json", "request/invalid", "request/too-large"] as const;

/** Every operation, declared once. HTTP, OpenAPI, the client and (later) the tools are read from this table. */
export const routes = {
  "process.start": {
    method: "POST",
    path: `${processes}/start`,
    answer: "json",
    changes: true,
    summary: "Start a process, optionally wait for it in the same call.",
    faults: [
      ...bodied,
      "process/command-required",
      "process/command-not-found",
      "process/not-executable",
      "process/unknown-shell",
      "process/bad-workdir",
      "process/too-long",
      "process/token-conflict",
      "process/start-failed",
      "store/disk-full",
      "daemon/shutting-down",
      "daemon/overloaded",
      "regex/invalid",
    ],
  },
  "process.list": {
    method: "GET",
    path: `${processes}/list`,
    answer: "json",
    summary: "List processes: all that run, then the newest that ended.",
    faults: ["request/invalid"],
  },
  "process.adopt": {
    method: "POST",
    path: `${processes}/adopt`,
    answer: "json",
    changes: true,
    unscoped: true,
    summary: "Watch a process that is already there: signals and its end only.",
    faults: [...bodied, "process/not-found", "process/start-failed"],
  },
  "process.by-token": {
    method: "GET",
    path: `${processes}/tokens/{token}`,
    answer: "json",
    summary: "The process that a client_token of this chat started.",
    faults: [...found],
  },
  "process.get": {
    method: "GET",
    path: one,
    answer: "json",
    summary: "Everything known about a process.",
    faults: [...found],
  },
  "process.output": {
    method: "GET",
    path: `${one}/output`,
    answer: "json",
    summary: "Head and tail of the output; `wait=true` waits for the exit.",
    faults: [...found],
  },
  "process.signal": {
    method: "POST",
    path: `${one}/signal`,
    answer: "json",
    changes: true,
    summary: "Send a signal to the command's group, or to what it left behind.",
    faults: [
      ...bodied,
      ...found,
      "process/unsupported-signal",
      "process/not-running",
      "process/signal-failed",
      "process/unreachable",
    ],
  },
  "process.stop": {
    method: "POST",
    path: `${one}/stop`,
    answer: "json",
    emptyBody: true,
    changes: true,
    summary: "End the whole tree; answers when nothing is left.",
    faults: [...bodied, ...found, "process/unsupported-signal", "process/stop-incomplete"],
  },
  "process.wait": {
    method: "POST",
    path: `${one}/wait`,
    answer: "json",
    emptyBody: true,
    summary: "Wait for exit, a match, a port, an HTTP answer, silence, bytes or an activity.",
    faults: [...bodied, ...found, "regex/invalid", "regex/too-slow"],
  },
  "process.log": {
    method: "GET",
    path: `${one}/log`,
    answer: "json",
    summary: "Any byte range of the log, raw, as text, or as a terminal shows it.",
    faults: [...found, "request/invalid"],
  },
  "process.search": {
    method: "GET",
    path: `${one}/log/search`,
    answer: "json",
    summary: "Lines of the log that match, with their offsets.",
    faults: [...found, "request/invalid", "regex/invalid", "regex/too-slow", "search/busy"],
  },
  "process.stream": {
    method: "GET",
    path: `${one}/stream`,
    answer: "sse",
    summary: "Output from a cursor, then live, then the exit. `Last-Event-ID` resumes.",
    faults: [...found, "request/invalid"],
  },
  "process.attach": {
    method: "GET",
    path: `${one}/attach`,
    answer: "socket",
    summary: "The terminal in both directions: replay, then live.",
    faults: [...found, "request/invalid"],
  },
  "process.stdin": {
    method: "POST",
    path: `${one}/stdin`,
    answer: "json",
    changes: true,
    summary: "Write to stdin, close it, or both.",
    faults: [...bodied, ...found, "auth/out-of-scope", "process/no-stdin", "process/stdin-full", "process/unreachable"],
  },
  "process.resize": {
    method: "POST",
    path: `${one}/resize`,
    answer: "json",
    changes: true,
    summary: "Change the size of the terminal.",
    faults: [...bodied, ...found, "auth/out-of-scope", "process/no-terminal", "process/unreachable"],
  },
  "process.tree": {
    method: "GET",
    path: `${one}/tree`,
    answer: "json",
    summary: "The living descendants.",
    faults: [...found],
  },
  "process.delete": {
    method: "DELETE",
    path: one,
    answer: "json",
    changes: true,
    summary: "Stop it if it runs, then forget it and its log.",
    faults: [...found, "auth/out-of-scope", "process/stop-incomplete"],
  },
  ...fileRoutes,
  ...gitRoutes,
  ...toolRoutes,
  ...tokenRoutes,
  "events.stream": {
    method: "GET",
    path: "/api/v0/events",
    answer: "sse",
    summary: "The numbered event log: history after a number, then live.",
    faults: ["request/invalid"],
  },
  "daemon.status": {
    method: "GET",
    path: "/api/v0/status",
    answer: "json",
    unscoped: true,
    summary: "Version, uptime, counts and where things are.",
    faults: [],
  },
  "daemon.shutdown": {
    method: "POST",
    path: "/api/v0/shutdown",
    answer: "json",
    emptyBody: true,
    changes: true,
    unscoped: true,
    summary: "End the daemon; processes keep running unless `stop_all`.",
    faults: [...bodied],
  },
  "daemon.metrics": {
    method: "GET",
    path: "/metrics",
    answer: "text",
    unscoped: true,
    summary: "Metrics in Prometheus' text form.",
    faults: [],
  },
  "daemon.openapi": {
    method: "GET",
    path: "/api/v0/openapi.json",
    answer: "json",
    summary: "This API as OpenAPI 3.1.",
    faults: [],
  },
  "daemon.health": {
    method: "GET",
    path: "/healthz",
    answer: "json",
    summary: "Answers when the daemon is ready.",
    open: true,
    faults: [],
  },
} as const satisfies Record<string, Route>;

export type OperationName = keyof typeof routes;
