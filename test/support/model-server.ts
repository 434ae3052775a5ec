import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { anthropic } from "./models/anthropic.ts";
import type { Dialect, ModelRequest, OfferedTool, Reply, SseEvent, ToolResult } from "./models/dialect.ts";
import { gemini } from "./models/gemini.ts";
import { openaiChat } from "./models/openai-chat.ts";
import { openaiResponses } from "./models/openai-responses.ts";

// A model that follows a script, so that real agent CLIs run without a real model. Turn n answers the requests that hold
// n tool results: which request of how many does not matter, so retries get the same answer again. Side calls that offer
// no tools (titles, routing) get a plain text and do not count.

/** What a turn's arguments may be made from. */
export interface Context {
  readonly results: readonly ToolResult[];
  /** A field of the newest result that has it; throws when none has, which is a 500 and one of `problems`. */
  found(field: string): unknown;
}

/** `cut` ends the connection in the middle of the answer; `hang` never answers. */
export type Failure = { readonly status: number } | "hang" | "cut";

export type Turn = (ToolTurn | TextTurn) & {
  /** Fails this many times first; Infinity is for ever. */
  readonly failing?: { readonly how: Failure; readonly times: number };
};

interface ToolTurn {
  /** `NAMESPACE.NAME` for a tool in a group (Codex puts an MCP server's tools into one). */
  readonly tool: string;
  readonly arguments: object | ((context: Context) => object | Promise<object>);
}

interface TextTurn {
  readonly text: string;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  /** Absent for a path that no provider has. */
  readonly dialect?: Dialect["name"];
  readonly request?: ModelRequest;
  /** What was sent back: the reply, or how it failed. */
  answer?: Reply | Failure;
}

const dialects: readonly Dialect[] = [anthropic, openaiResponses, openaiChat, gemini];
/** A megabyte of prompt comes with a history of some; more is a mistake. */
const bodyBytesMax = 64 << 20;

export class ModelServer {
  readonly requests: RecordedRequest[] = [];
  /** What kept a turn from being played; a test expects none. */
  readonly problems: string[] = [];
  private readonly server: Server;
  private readonly script: readonly Turn[];
  private readonly failed = new Map<Turn, number>();

  private constructor(script: readonly Turn[]) {
    this.script = script;
    this.server = createServer((request, response) => {
      this.serve(request, response).catch((error: unknown) => {
        this.problems.push(String(error));
        if (!response.headersSent) sendJson(response, 500, { error: { message: String(error) } });
        else response.destroy();
      });
    });
    // As a client's HTTPS proxy it learns where else that client wants to go, and lets nothing through.
    this.server.on("connect", ({ method = "", url: path = "", headers }, socket) => {
      this.requests.push({ method, path, headers, body: "" });
      socket.on("error", () => socket.destroy()).end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
  }

  static async start(script: readonly Turn[]): Promise<ModelServer> {
    const model = new ModelServer(script);
    await new Promise<void>((done, fail) => {
      model.server.once("error", fail);
      model.server.listen(0, "127.0.0.1", done);
    });
    return model;
  }

  /** `http://127.0.0.1:PORT`, without a path. */
  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  }

  /** The tool results of the longest conversation so far: what the client told the model. */
  get results(): readonly ToolResult[] {
    const all = this.requests.map(({ request }) => request?.results ?? []);
    return all.reduce((longest, one) => (one.length >= longest.length ? one : longest), []);
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? "/", "http://127.0.0.1");
    const dialect = incoming.method === "POST" ? dialects.find((one) => one.matches(url)) : undefined;
    const { method = "", headers } = incoming;
    const body = parseBody(await readBody(incoming));
    const base = { method, path: url.pathname + url.search, headers, body };
    if (!dialect) {
      this.requests.push(base);
      return sendJson(response, 404, { error: { message: `no such path: ${url.pathname}` } });
    }
    const request = dialect.read(body, url);
    const record: RecordedRequest = { ...base, dialect: dialect.name, request };
    this.requests.push(record);
    const turn = request.tools.length > 0 ? this.script[request.results.length] : undefined;
    const failure = turn && this.failureOf(turn);
    record.answer = failure === undefined || failure === "cut" ? await this.reply(turn, request) : failure;
    if (typeof failure === "object") {
      return sendJson(response, failure.status, dialect.failure(failure.status, `scripted failure ${failure.status}`));
    }
    if (failure !== "hang") send(response, dialect, { request, reply: record.answer as Reply, cut: failure === "cut" });
  }

  private failureOf(turn: Turn): Failure | undefined {
    const failed = this.failed.get(turn) ?? 0;
    if (!turn.failing || failed >= turn.failing.times) return undefined;
    this.failed.set(turn, failed + 1);
    return turn.failing.how;
  }

  private async reply(turn: Turn | undefined, { tools, results, wantsJson }: ModelRequest): Promise<Reply> {
    if (!turn) return { kind: "text", text: wantsJson ? "{}" : "Done." };
    if ("text" in turn) return { kind: "text", text: turn.text };
    const tool = tools.find((one) => fullName(one) === turn.tool);
    if (!tool) {
      const problem = `${turn.tool} is not offered; offered: ${tools.map(fullName).join(", ")}`;
      this.problems.push(problem);
      return { kind: "text", text: problem };
    }
    const made = typeof turn.arguments === "function" ? await turn.arguments(context(results)) : turn.arguments;
    return { kind: "tool", tool, callId: `call_${this.requests.length}`, arguments: made };
  }
}

const fullName = ({ namespace, name }: OfferedTool) => (namespace === undefined ? name : `${namespace}.${name}`);

function context(results: readonly ToolResult[]): Context {
  return {
    results,
    found(field) {
      const value = results.findLast((result) => result.value?.[field] !== undefined)?.value?.[field];
      if (value === undefined) throw new Error(`no tool result has ${field}: ${JSON.stringify(results)}`);
      return value;
    },
  };
}

function send(
  response: ServerResponse,
  dialect: Dialect,
  o: { request: ModelRequest; reply: Reply; cut: boolean },
): void {
  const { request, reply, cut } = o;
  if (request.form === "sse") {
    const text = dialect.events(reply, request).map(frame).join("");
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    return cut ? sendHalf(response, text) : void response.end(text);
  }
  const list = request.form === "list" ? dialect.events(reply, request).map(({ data }) => data) : undefined;
  const text = JSON.stringify(list ?? dialect.whole(reply, request));
  response.writeHead(200, { "content-type": "application/json" });
  return cut ? sendHalf(response, text) : void response.end(text);
}

/** Destroyed only once written: destroying at once would throw the bytes away with the connection. */
function sendHalf(response: ServerResponse, text: string): void {
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

const frame = ({ event, data }: SseEvent) =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > bodyBytesMax) throw new Error(`a request of more than ${bodyBytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
