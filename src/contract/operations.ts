import { z } from "zod";
import { event, eventsQuery } from "./events.ts";
import * as f from "./files.ts";
import * as g from "./git.ts";
import { attachQuery, logAnswer, logQuery, outputChunk, searchAnswer, searchQuery, streamQuery } from "./log.ts";
import * as p from "./process.ts";
import type { OperationName } from "./routes.ts";
import * as k from "./tokens.ts";
import * as t from "./tools.ts";
import { waitAnswer, waitRequest } from "./wait.ts";

/** What goes in and out of an operation. Path parameters are text and come from the route's path. */
export interface OperationSchemas {
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly output: z.ZodType;
}

const done = z.object({ done: z.literal(true) }).meta({ id: "Done" });
const shutdownRequest = z.object({ stop_all: z.boolean().optional() }).meta({ id: "ShutdownRequest" });
const shutdownAnswer = z
  .object({ shutting_down: z.literal(true), left_running: z.int(), stopped: z.int() })
  .meta({ id: "ShutdownAnswer" });
const statusAnswer = z
  .object({
    version: z.string(),
    protocol: z.int(),
    pid: z.int(),
    machine_id: z.string(),
    machine_name: z.string(),
    home: z.string(),
    url: z.string(),
    socket: z.string(),
    started_at: z.string(),
    running: z.int(),
    exited: z.int(),
    lost: z.int(),
    quarantined: z.int(),
    adopted: z.int().describe("Running processes taken over at the last start."),
    log_bytes: z.int(),
    rss_bytes: z.int(),
    features: z.array(z.string()),
    git: g.gitFacts.optional(),
  })
  .meta({ id: "StatusAnswer" });
const health = z.object({ ok: z.literal(true), version: z.string() }).meta({ id: "Health" });

/** Schemas by operation name; a route without an entry here is a type error. */
export const operations = {
  "process.start": { body: p.startRequest, output: p.startAnswer },
  "process.list": { query: p.listQuery, output: p.listAnswer },
  "process.adopt": { body: p.adoptRequest, output: p.processInfo },
  "process.by-token": { output: p.processInfo },
  "process.get": { output: p.processInfo },
  "process.output": { query: p.outputQuery, output: p.outputAnswer },
  "process.signal": { body: p.signalRequest, output: p.signalAnswer },
  "process.stop": { body: p.stopRequest, output: p.stopAnswer },
  "process.wait": { body: waitRequest, output: waitAnswer },
  "process.log": { query: logQuery, output: logAnswer },
  "process.search": { query: searchQuery, output: searchAnswer },
  "process.stream": { query: streamQuery, output: outputChunk },
  "process.attach": { query: attachQuery, output: done },
  "process.stdin": { body: p.stdinRequest, output: p.stdinAnswer },
  "process.resize": { body: p.resizeRequest, output: done },
  "process.tree": { output: p.treeAnswer },
  "process.delete": { output: p.stopAnswer },
  "file.list": { query: f.listDirectoryQuery, body: f.listDirectoryRequest, output: f.listDirectoryAnswer },
  "file.resolve": { query: f.resolvePathQuery, output: f.resolvePathAnswer },
  "file.read": { query: f.readFileQuery, output: z.string() },
  "file.read-lines": { query: f.readLinesQuery, output: f.readLinesAnswer },
  "file.write": { query: f.writeFileQuery, output: f.writeFileAnswer },
  "file.edit": { body: f.editFilesRequest, output: f.editFilesAnswer },
  "git.watch": { query: g.gitWatchQuery, output: g.gitChanges },
  "git.status": { query: g.gitStatusQuery, output: g.gitRepository },
  "git.stream": { query: g.gitStreamQuery, output: g.gitChanges },
  "tool.list": { query: t.toolListQuery, output: t.toolListAnswer },
  "tool.call": { query: t.toolCallQuery, body: t.toolCallRequest, output: t.toolCallAnswer },
  "token.create": { body: k.tokenRequest, output: k.tokenCreated },
  "token.list": { output: k.tokenList },
  "token.revoke": { output: done },
  "chat.end": { output: k.chatEnded },
  "events.stream": { query: eventsQuery, output: event },
  "daemon.status": { output: statusAnswer },
  "daemon.shutdown": { body: shutdownRequest, output: shutdownAnswer },
  "daemon.metrics": { output: z.string() },
  "daemon.openapi": { output: z.record(z.string(), z.unknown()) },
  "daemon.health": { output: health },
} as const satisfies Record<OperationName, OperationSchemas>;

type Table = typeof operations;
type Part<K extends OperationName, F extends "query" | "body", IO extends "input" | "output"> =
  Table[K] extends Record<F, infer S extends z.ZodType> ? (IO extends "input" ? z.input<S> : z.output<S>) : object;

type Parameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [P in Name]: string } & Parameters<Rest>
  : object;

/** What a handler gets: path parameters, parsed query and parsed body in one object. */
export type OperationInput<K extends OperationName> = Parameters<typeof import("./routes.ts").routes[K]["path"]> &
  Part<K, "query", "output"> &
  Part<K, "body", "output">;
/** What a caller of the client gives: the same before defaults. */
export type OperationRequest<K extends OperationName> = Parameters<typeof import("./routes.ts").routes[K]["path"]> &
  Part<K, "query", "input"> &
  Part<K, "body", "input">;
/** What a handler answers, what a caller gets. */
export type OperationOutput<K extends OperationName> = z.output<Table[K]["output"]>;
