import { type Caller, Fault, type OperationInput, type OperationName, routes } from "../contract/index.ts";
import type { JsonOperation, SseMessage } from "../operations/index.ts";
import { answerJson, answerWith } from "./answer.ts";
import { answerBytes, readBytes } from "./bytes.ts";
import type { Exchange } from "./exchange.ts";
import type { OpenRequests } from "./open-requests.ts";
import { buildOpenApi } from "./openapi.ts";
import { createInputReader, type InputReader } from "./read-input.ts";
import { answerStream } from "./sse.ts";
import type { AppRooms, Handler, Turn } from "./turn.ts";

/** How a route answers, by the kind that the table gives it. */
export function createHandler(name: OperationName, rooms: AppRooms): Handler {
  if (name === "daemon.openapi") return serveOpenApi(rooms.version);
  const read = createInputReader(name);
  if (name === "process.log") return serveLog(rooms, read);
  if (name === "file.write") return serveUpload(rooms, read);
  switch (routes[name].answer) {
    case "json":
      return serveValue(name as JsonOperation, rooms, read);
    case "text":
      return serveText(name as JsonOperation, rooms, read);
    case "sse":
      return serveStream(name as StreamOperation, rooms, read);
    case "bytes":
      return serveBytes(rooms, read);
    case "socket":
      return refusePlainGet;
  }
}

type AnyOperation<T> = (input: object, caller: Caller) => T;

function serveValue(name: JsonOperation, rooms: AppRooms, read: InputReader): Handler {
  const operation = rooms.operations[name] as AnyOperation<unknown>;
  return async ({ exchange, parameters, headers }) => {
    const input = await read(exchange, parameters);
    const call = () => operation(input, exchange.caller);
    // The one who asked for the shutdown gets its own answer.
    const isOwn = name === "daemon.shutdown";
    return answerJson(await (isOwn ? call() : whileAllowed(call, exchange, rooms.open)), headers);
  };
}

function serveText(name: JsonOperation, rooms: AppRooms, read: InputReader): Handler {
  const operation = rooms.operations[name] as AnyOperation<Promise<string> | string>;
  return async ({ exchange, parameters, headers }) => {
    const input = await read(exchange, parameters);
    return answerWith(await operation(input, exchange.caller), "text/plain; version=0.0.4; charset=utf-8", headers);
  };
}

type StreamOperation = "process.stream" | "events.stream" | "git.stream";

function serveStream(name: StreamOperation, rooms: AppRooms, read: InputReader): Handler {
  const operation = rooms.operations[name] as AnyOperation<
    AsyncIterable<SseMessage> | Promise<AsyncIterable<SseMessage>>
  >;
  return async (turn) => {
    const input = await read(turn.exchange, turn.parameters);
    return answerStream(await operation(input, turn.exchange.caller), turn, rooms);
  };
}

/** The log in JSON, or its bytes themselves for those who accept them. */
function serveLog(rooms: AppRooms, read: InputReader): Handler {
  const inJson = serveValue("process.log", rooms, read);
  return async (turn: Turn) => {
    const { exchange, headers } = turn;
    if (!exchange.header("accept")?.includes("application/octet-stream")) return inJson(turn);
    const input = (await read(exchange, turn.parameters)) as OperationInput<"process.log">;
    const log = await rooms.operations["process.log.bytes"](input, exchange.caller);
    return answerWith(log.data as Uint8Array<ArrayBuffer>, "application/octet-stream", {
      ...headers,
      "Drover-Log-From": String(log.from),
      "Drover-Log-To": String(log.to),
      "Drover-Log-End": String(log.end),
      "Drover-Log-Next": String(log.next),
    });
  };
}

function serveBytes(rooms: AppRooms, read: InputReader): Handler {
  return async (turn) => {
    const input = (await read(turn.exchange, turn.parameters)) as OperationInput<"file.read">;
    return answerBytes(await rooms.operations["file.read"](input, turn.exchange.caller), turn, rooms.open);
  };
}

/** The body is the content, and is handed on as it comes. */
function serveUpload(rooms: AppRooms, read: InputReader): Handler {
  return async ({ exchange, parameters, headers }) => {
    const input = (await read(exchange, parameters)) as OperationInput<"file.write">;
    const call = () => rooms.operations["file.write"](input, exchange.caller, readBytes(exchange));
    return answerJson(await whileAllowed(call, exchange, rooms.open), headers);
  };
}

/** Made at the first request: few ask for it, and it costs some milliseconds. */
function serveOpenApi(version: string): Handler {
  let text: string | undefined;
  return ({ headers }) => {
    text ??= `${JSON.stringify(buildOpenApi(version))}\n`;
    return answerWith(text, "application/json; charset=utf-8", headers);
  };
}

function refusePlainGet(): never {
  throw new Fault("request/invalid", "This route speaks WebSocket only; connect with `Upgrade: websocket`.");
}

/** A wait may last a day; when the daemon or the token ends it is answered and its operation aborted. */
function whileAllowed(call: () => unknown, exchange: Exchange, open: OpenRequests): unknown {
  // The body may have taken its time.
  const refusal = open.refusal(exchange.caller);
  if (refusal) throw refusal;
  const value = call();
  if (!(value instanceof Promise)) return value;
  return new Promise((resolve, reject) => {
    const forget = open.add(exchange.caller, (why) => {
      reject(why);
      exchange.abort();
    });
    value.then(resolve, reject).finally(forget);
  });
}
