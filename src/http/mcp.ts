import { defer, ignore } from "../base/index.ts";
import type { Caller, ToolSetName } from "../contract/index.ts";
import { mcpQuery } from "../contract/schemas.ts";
import { answerWith } from "./answer.ts";
import { createQueryParser } from "./parse-query.ts";
import { readBody } from "./read-body.ts";
import type { AppRooms, Handler, Turn } from "./turn.ts";

/** One request for `/mcp` that was let in; its body has been read. */
export interface McpVisit {
  readonly request: Request;
  readonly body: string;
  readonly caller: Caller;
  readonly tools: ToolSetName | undefined;
  readonly workdir: string | undefined;
}

/** Speaks the Model Context Protocol. Ends what it does when the caller's signal fires. */
export interface McpDoor {
  answer(visit: McpVisit): Promise<Response>;
}

/** `/mcp`: a protocol of its own behind the same gate. */
export function serveMcp(rooms: AppRooms, door: McpDoor): Handler {
  const parse = createQueryParser(mcpQuery);
  return async (turn) => {
    const { exchange, headers } = turn;
    const { request, caller } = exchange;
    const { tools, workdir } = parse(exchange.search, true) as Partial<McpVisit>;
    const body = request.method === "POST" ? await readBody(request) : "";
    const ended = defer<never>();
    ended.promise.catch((error: unknown) => ignore(error, "an answer that has begun ends by the caller's signal"));
    const forget = rooms.open.add(caller, (why) => {
      ended.reject(why);
      exchange.abort();
    });
    try {
      const answer = door.answer({ request, body, caller, tools, workdir });
      answer.catch((error: unknown) => ignore(error, "whoever asked was told already"));
      const response = await Promise.race([answer, ended.promise]);
      const type = response.headers.get("content-type") ?? "application/json";
      if (type.startsWith("text/event-stream")) return stream(response, turn, forget);
      forget();
      const allow = response.headers.get("allow");
      return answerWith(await response.text(), type, { ...headers, ...(allow && { Allow: allow }) }, response.status);
    } catch (error) {
      forget();
      throw error;
    }
  };
}

function stream({ body, status }: Response, turn: Turn, forget: () => void): Response {
  const finish = turn.defer();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    forget();
    finish();
  };
  turn.exchange.caller.signal.addEventListener("abort", end, { once: true });
  const passed = body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ flush: end })) ?? null;
  const headers = { ...turn.headers, "X-Accel-Buffering": "no" };
  return answerWith(passed, "text/event-stream; charset=utf-8", headers, status);
}
