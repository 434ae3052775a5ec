/** Text, bytes, or bytes that are still being made. */
export type WireBody = string | Uint8Array | AsyncIterable<Uint8Array>;

/** One request as it goes out. `path` starts with `/` and holds the query. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: WireBody | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One answer; its body is read once, whole or in chunks. */
export interface WireAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  bytes(): Promise<Uint8Array>;
  chunks(): AsyncIterable<Uint8Array>;
}

/** How requests reach the daemon. */
export interface Transport {
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

/** Through `fetch`: browsers, other runtimes, https, and whoever brings their own. */
export function createFetchTransport(url: string, fetch: typeof globalThis.fetch): Transport {
  const base = url.replace(/\/+$/, "");
  return {
    async send({ method, path, headers, body, signal }) {
      const init: RequestInit = { method, headers, redirect: "error", cache: "no-store", signal: signal ?? null };
      const response = await fetch(base + path, body === undefined ? init : { ...init, ...toFetchBody(body) });
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        bytes: async () => new Uint8Array(await response.arrayBuffer()),
        chunks: () => readChunks(response.body),
      };
    },
    close() {},
  };
}

/** A body that is still being made goes out as a stream where the runtime can do that. */
function toFetchBody(body: WireBody): RequestInit & { duplex?: "half" } {
  if (typeof body === "string") return { body };
  if (body instanceof Uint8Array) return { body: body as Uint8Array<ArrayBuffer> };
  const chunks = body[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
  return { body: stream, duplex: "half" };
}

async function* readChunks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Whoever stops reading early also ends the request; one that has ended anyway takes no note.
    reader.cancel().catch(() => undefined);
  }
}
