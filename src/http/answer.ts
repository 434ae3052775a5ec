import { randomUUID } from "node:crypto";
import type { Log } from "../base/index.ts";
import { Fault, type FaultBody } from "../contract/index.ts";

/** Headers that go with every answer to one request. */
export type ReplyHeaders = Readonly<Record<string, string>>;

const guarded = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };

/** One JSON value and a newline. */
export function answerJson(value: unknown, headers: ReplyHeaders, status = 200): Response {
  return answerWith(`${JSON.stringify(value)}\n`, "application/json; charset=utf-8", headers, status);
}

/** Text, bytes or a stream as they are. */
export function answerWith(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
  type: string,
  headers: ReplyHeaders,
  status = 200,
): Response {
  // A plain object of headers lets the adapter write it out without a Headers in between.
  return new Response(body, { status, headers: allHeaders(type, headers) });
}

/** What every answer says about itself. */
export function allHeaders(type: string, headers: ReplyHeaders): ReplyHeaders {
  return { "Content-Type": type, ...guarded, ...headers };
}

/** The one place where a fault becomes an HTTP answer. */
export function answerFault(fault: Fault, headers: ReplyHeaders): Response {
  return answerJson(faultBody(fault), { ...headers, ...faultHeaders(fault) }, fault.facts.status);
}

/** What the caller may know of any error: a fault as it is, anything else as a bug whose stack is in the log only. */
export function toFault(error: unknown, log: Log, requestId: string): Fault {
  if (error instanceof Fault) return error;
  const reference = randomUUID();
  log.error("bug", { reference, request_id: requestId, error });
  return new Fault("internal/bug", `Drover has a defect; its log holds the details under reference ${reference}.`, {
    data: { reference },
    cause: error,
  });
}

/** A fault on the wire, in an answer, a stream or a WebSocket message. */
export function faultBody(fault: Fault): FaultBody {
  const body: FaultBody = { message: fault.message, code: fault.code };
  if (fault.detail !== undefined) body.detail = fault.detail;
  if (fault.validations !== undefined) body.validations = fault.validations;
  if (fault.data !== undefined) body.data = fault.data;
  return body;
}

function faultHeaders(fault: Fault): ReplyHeaders {
  if (fault.facts.status === 401) return { "WWW-Authenticate": "Bearer" };
  const allow = fault.data?.["allow"];
  return fault.code === "route/wrong-method" && Array.isArray(allow) ? { Allow: allow.join(", ") } : {};
}

/** Said to whoever is still connected when the daemon ends. */
export function shuttingDown(): Fault {
  return new Fault("daemon/shutting-down", "The daemon is shutting down; processes keep running. Connect again soon.");
}
