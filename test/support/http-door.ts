import type { Log } from "../../src/base/index.ts";
import { type Arrival, createHttp, type Http, type HttpOptions, type TokenBook } from "../../src/http/index.ts";
import { Metrics } from "../../src/operations/metrics.ts";
import type { Operations } from "../../src/operations/table.ts";

export const TOKEN = "secret-token";
export const onTcp: Arrival = { door: { kind: "tcp", port: 7333 } };
export const onUnix: Arrival = { door: { kind: "unix" } };

/** Nobody has a token but the home's own. */
export const noTokens: TokenBook = { find: () => undefined, refusal: () => undefined, watch: () => () => undefined };

export interface LoggedLine {
  level: string;
  message: string;
  fields: Record<string, unknown>;
}

/** A log that keeps its lines. */
export function createListLog(lines: LoggedLine[] = []): Log & { lines: LoggedLine[] } {
  const at =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      void lines.push({ level, message, fields });
  const log = { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), child: () => log };
  return log;
}

/** The HTTP door in front of hand-written operations: for tests of its own translation only. */
export function createDoor(operations: Partial<Operations>, more: Partial<HttpOptions> = {}): Http {
  return createHttp({
    operations: operations as Operations,
    auth: { token: TOKEN, tokens: noTokens, allowedHosts: [], allowedOrigins: [] },
    log: createListLog(),
    metrics: new Metrics(),
    version: "0.0.0-test",
    ...more,
  });
}

/** A request as it comes through TCP with everything right; `headers` may spoil it. */
export function request(
  method: string,
  path: string,
  o: { body?: BodyInit; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Request {
  const headers = new Headers({ host: "127.0.0.1:7333", authorization: `Bearer ${TOKEN}` });
  for (const [name, value] of Object.entries(o.headers ?? {})) {
    if (value === "") headers.delete(name);
    else headers.set(name, value);
  }
  const init: RequestInit & { duplex?: "half" } = { method, headers, body: o.body ?? null, duplex: "half" };
  if (o.signal) init.signal = o.signal;
  return new Request(`http://127.0.0.1:7333${path}`, init);
}

export async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  return JSON.parse(await response.text()) as Record<string, unknown>;
}
