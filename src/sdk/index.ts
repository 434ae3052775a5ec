// sdk: the typed client, for Node and the browser.
//
// Methods and their types are read from contract's table: `client.processes.start(request)` is the route `process.start`, its
// types are the wire types. The Faults of the daemon are thrown again as they are; what cannot be reached is `client/unreachable`.
//
// Invariants: no schema library is loaded; Node's modules and `ws` are loaded only in Node and only when needed; `follow` and
// `events` go on over broken connections from the exact byte or number.
//
// Read: call.ts (one request), transport.ts, node-transport.ts; then sse.ts, stream.ts, follow.ts, events.ts, attach.ts.
import { type OperationName, type OperationOutput, type Route, routes } from "../contract/index.ts";
import { type Attached, type AttachOptions, attach } from "./attach.ts";
import { ask, type CallInput, type CallOptions, call, readAll } from "./call.ts";
import type { Methods, RequestOf } from "./client-types.ts";
import { type ClientOptions, type Connection, openConnection } from "./connection.ts";
import { type EventGap, type EventsOptions, readEvents } from "./events.ts";
import { type Files, readFile, writeFile } from "./files.ts";
import { type Followed, type FollowOptions, follow } from "./follow.ts";
import { type GitWatchOptions, watchGit } from "./git.ts";

export type {
  Activity,
  ChatEnded,
  DroverEvent,
  EndReason,
  EventType,
  ExitFacts,
  GitChanges,
  GitFile,
  GitRepository,
  ListAnswer,
  LogAnswer,
  OutputAnswer,
  OutputChunk,
  ProcessInfo,
  ProcessState,
  ProcessSummary,
  SearchAnswer,
  StartAnswer,
  StartRequest,
  StopAnswer,
  StopRequest,
  TokenCreated,
  TokenInfo,
  TokenRequest,
  ToolSetName,
  TreeProcess,
  Usage,
  WaitAnswer,
  WaitFor,
  WaitRequest,
} from "../contract/index.ts";
export { Fault, type FaultBody, type FaultCode, faults } from "../contract/index.ts";
export type { Attached, AttachMessage, AttachOptions } from "./attach.ts";
export type { CallOptions } from "./call.ts";
export type { ClientOptions } from "./connection.ts";
export { decodeData } from "./decode-data.ts";
export type { EventGap, EventsOptions } from "./events.ts";
export type { FileContent, Files } from "./files.ts";
export type { Followed, FollowOptions } from "./follow.ts";
export type { GitWatchOptions } from "./git.ts";
export { type ToolDeclaration, type ToolForms, toolsFor } from "./model-tools.ts";

/** A piece of a log as bytes. */
export interface LogBytes {
  from: number;
  to: number;
  end: number;
  next: number;
  data: Uint8Array;
}

/** Everything about processes. */
export interface Processes extends Methods<"process"> {
  /** A range of the log as bytes, without JSON around it. */
  logBytes(id: string, range?: RequestOf<"process.log">, options?: CallOptions): Promise<LogBytes>;
  /** Output from a byte on, then live, then the exit. Connects again by itself. */
  follow(id: string, options?: FollowOptions): AsyncGenerator<Followed>;
  /** The terminal in both directions. */
  attach(id: string, options?: AttachOptions): Promise<Attached>;
}

/** Repositories that chats work in. */
export interface Git extends Methods<"git"> {
  /** The full state, then changes and a sign of life every 5 s. Connects again by itself. */
  watch(options?: GitWatchOptions): AsyncGenerator<OperationOutput<"git.stream">>;
}

/** A daemon, seen from outside. */
export interface Client extends Methods<"daemon"> {
  readonly processes: Processes;
  readonly files: Files;
  /** Tokens beside the home's own. */
  readonly tokens: Methods<"token">;
  readonly chats: Methods<"chat">;
  readonly git: Git;
  /** The model tools: their definitions, and calls of them. */
  readonly tools: Methods<"tool">;
  /** The event log, then live. Connects again by itself. */
  events(options?: EventsOptions): AsyncGenerator<OperationOutput<"events.stream"> | EventGap>;
  /** Lets go of kept connections; calls that are under way fail. */
  close(): void;
}

/** Makes a client; nothing is connected until the first call. */
export function createClient(options: ClientOptions = {}): Client {
  const connection = openConnection(options);
  const processes: Processes = {
    ...methodsOf<"process">(connection, "process"),
    logBytes: (id, range, callOptions) => readLogBytes(connection, { ...range, id }, callOptions),
    follow: (id, followOptions) => follow(connection, id, followOptions),
    attach: (id, attachOptions) => attach(connection, id, attachOptions),
  };
  return {
    ...methodsOf<"daemon">(connection, "daemon"),
    processes,
    files: {
      ...methodsOf<"file">(connection, "file"),
      read: (request, callOptions) => readFile(connection, request, callOptions),
      write: (request, body, callOptions) => writeFile(connection, request, { body, options: callOptions }),
    },
    tokens: methodsOf<"token">(connection, "token"),
    chats: methodsOf<"chat">(connection, "chat"),
    git: {
      ...methodsOf<"git">(connection, "git"),
      watch: (watchOptions) => watchGit(connection, watchOptions),
    },
    tools: methodsOf<"tool">(connection, "tool"),
    events: (eventsOptions) => readEvents(connection, eventsOptions),
    close: () => connection.close(),
  };
}

function methodsOf<Family extends string>(connection: Connection, family: Family): Methods<Family> {
  const methods: Record<string, unknown> = {};
  for (const name of Object.keys(routes) as OperationName[]) {
    const { answer, path, body }: Route = routes[name];
    if (!name.startsWith(`${family}.`) || (answer !== "json" && answer !== "text") || body === "bytes") continue;
    const method = name.slice(family.length + 1).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const parameter = /\{(\w+)\}/.exec(path)?.[1];
    methods[method] = parameter
      ? (value: string, input?: CallInput, o?: CallOptions) =>
          call(connection, name, { ...input, [parameter]: value }, o)
      : (input?: CallInput, o?: CallOptions) => call(connection, name, { ...input }, o);
  }
  return methods as Methods<Family>;
}

async function readLogBytes(connection: Connection, input: CallInput, options: CallOptions = {}): Promise<LogBytes> {
  const headers = { ...options.headers, Accept: "application/octet-stream" };
  const answer = await ask(connection, "process.log", input, { ...options, headers });
  const number = (name: string) => Number(answer.header(`Drover-Log-${name}`));
  const [from, to, end, next] = [number("From"), number("To"), number("End"), number("Next")];
  return { from, to, end, next, data: await readAll(connection, answer, options.signal) };
}
