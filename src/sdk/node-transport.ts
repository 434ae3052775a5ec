import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { createSocketPath } from "./socket-path.ts";
import type { Transport, WireAnswer, WireBody, WireRequest } from "./transport.ts";

/** Where a daemon on this machine listens. */
export type NodeTarget = { readonly socket: string } | { readonly url: string };

/**
 * Through node:http, over the Unix socket or plain TCP. Not `fetch`, whose Node form gives up on an answer after five minutes:
 * waits may last a day.
 */
export function createNodeTransport(target: NodeTarget): Transport {
  const agent = new Agent({ keepAlive: true });
  const socket = "socket" in target ? createSocketPath(target.socket) : undefined;
  const url = "url" in target ? new URL(target.url) : undefined;
  const prefix = url?.pathname.replace(/\/+$/, "") ?? "";
  const open = ({ method, path, headers, body, signal }: WireRequest): ClientRequest => {
    const where = socket ? { socketPath: socket.get() } : { host: hostOf(url), port: url?.port || 80 };
    const length = isWhole(body) ? { "Content-Length": String(Buffer.byteLength(body)) } : {};
    const all = { ...headers, ...length };
    return httpRequest({ ...where, agent, method, path: prefix + path, headers: all, ...(signal ? { signal } : {}) });
  };
  return {
    send: (request) => exchange(() => open(request), request),
    close() {
      agent.destroy();
      socket?.close();
    },
  };
}

async function exchange(open: () => ClientRequest, { method, body }: WireRequest): Promise<WireAnswer> {
  const first = open();
  try {
    return await answerOf(first, body);
  } catch (error) {
    // The daemon closed a kept connection just as it was taken again. Only what may be asked twice is asked again.
    const isStale = first.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
    if (!isStale || method !== "GET") throw error;
    return answerOf(open(), body);
  }
}

function isWhole(body: WireBody | undefined): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

function answerOf(request: ClientRequest, body: WireBody | undefined): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => resolve(toAnswer(response)));
    if (body === undefined || isWhole(body)) request.end(body);
    else pipeline(body, request).catch(reject);
  });
}

function toAnswer(response: IncomingMessage): WireAnswer {
  return {
    status: response.statusCode ?? 0,
    header: (name) => response.headers[name.toLowerCase()]?.toString(),
    async bytes() {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
    chunks: () => response,
  };
}

function hostOf(url: URL | undefined): string {
  return url?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "127.0.0.1";
}
