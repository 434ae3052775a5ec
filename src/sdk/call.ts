import {
  Fault,
  type FaultBody,
  type FaultCode,
  faults,
  type OperationName,
  type Route,
  routes,
} from "../contract/index.ts";
import type { Connection } from "./connection.ts";
import type { WireAnswer, WireBody } from "./transport.ts";

/** What every method takes as its last argument. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Added to the request, over the client's own. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Path parameters, query or body of one call, by the names of the wire. */
export type CallInput = Readonly<Record<string, unknown>>;

/** Asks and returns the value of the answer. */
export async function call(
  connection: Connection,
  name: OperationName,
  input: CallInput,
  options: CallOptions = {},
): Promise<unknown> {
  const answer = await ask(connection, name, input, options);
  const text = new TextDecoder().decode(await readAll(connection, answer, options.signal));
  return routes[name].answer === "text" ? text : parseAnswer(connection, text);
}

/** Asks and returns the answer with its body unread; a fault of the daemon is thrown again here. */
export async function ask(
  connection: Connection,
  name: OperationName,
  input: CallInput,
  options: CallOptions & { readonly body?: WireBody } = {},
): Promise<WireAnswer> {
  const { signal } = options;
  const { method, path, body = options.body } = toRequest(name, input);
  let answer: WireAnswer;
  try {
    const transport = await connection.transport();
    const headers = { ...connection.headers, ...options.headers };
    answer = await transport.send({ method, path, headers, body, signal });
  } catch (error) {
    throw toUnreachable(connection, error, signal);
  }
  if (answer.status >= 200 && answer.status < 300) return answer;
  const text = new TextDecoder().decode(await readAll(connection, answer, signal));
  throw toFault(connection, answer.status, text);
}

/** Bytes of an answer that arrives whole. */
export async function readAll(connection: Connection, answer: WireAnswer, signal?: AbortSignal): Promise<Uint8Array> {
  try {
    return await answer.bytes();
  } catch (error) {
    throw toUnreachable(connection, error, signal);
  }
}

/** The route's path with its parameters filled in; the rest goes into the query, or the body of a POST that takes JSON. */
export function toRequest(name: OperationName, input: CallInput): { method: string; path: string; body?: string } {
  const route: Route = routes[name];
  const rest = { ...input };
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = String(rest[parameter]);
    delete rest[parameter];
    return encodeURIComponent(value);
  });
  if (route.method === "POST" && !route.body) return { method: "POST", path, body: JSON.stringify(rest) };
  const body = route.body === "arguments" ? JSON.stringify(rest["arguments"] ?? {}) : undefined;
  if (body !== undefined) delete rest["arguments"];
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(rest))
    if (value !== undefined) query.set(key, String(value as string | number | boolean));
  const address = query.size > 0 ? `${path}?${query}` : path;
  return body === undefined ? { method: route.method, path: address } : { method: route.method, path: address, body };
}

/** A fault as the daemon sent it, or what can be said about an answer that is none of its own. */
export function toFault(connection: Pick<Connection, "where">, status: number, text: string): Fault {
  const body = parseFault(text);
  if (!body) {
    const detail = `Status ${status}: ${text.slice(0, 200)}`;
    return new Fault("client/unreachable", `What answers at ${connection.where} is not Drover.`, { detail });
  }
  // A newer daemon may know codes that this client does not.
  const isKnown = Object.hasOwn(faults, body.code);
  const code: FaultCode = isKnown ? body.code : "internal/bug";
  return new Fault(
    code,
    body.message,
    isKnown ? body : { ...body, detail: body.detail ?? `Unknown fault ${body.code}.` },
  );
}

export function toUnreachable(connection: Pick<Connection, "where">, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof Fault) return error;
  const cause = (error as { cause?: unknown }).cause ?? error;
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new Fault("client/unreachable", `No Drover daemon answers at ${connection.where}.`, { detail, cause: error });
}

function parseFault(text: string): FaultBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<FaultBody> | null;
    return typeof body?.message === "string" && typeof body.code === "string" ? (body as FaultBody) : undefined;
  } catch {
    return undefined;
  }
}

/** The value of an answer that should be JSON. */
export function parseAnswer(connection: Connection, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = text.slice(0, 200);
    throw new Fault("client/unreachable", `What answers at ${connection.where} is not Drover.`, {
      detail,
      cause: error,
    });
  }
}
