import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { defer, ignore, type Log } from "../base/index.ts";
import type { ToolSetName } from "../contract/index.ts";
import type { Invoke } from "./invoke.ts";
import { ResourceWatch } from "./resource-watch.ts";
import { createMcpServer } from "./server.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { createToolSet } from "./tool-set.ts";

export interface StdioOptions {
  readonly invoke: Invoke;
  readonly tools: ToolSetName;
  readonly version: string;
  readonly workdir?: string | undefined;
  readonly input: Readable;
  /** Gets protocol messages and nothing else. */
  readonly output: Writable;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Serves one client over a pair of pipes until it closes them, or the signal fires. */
export async function serveMcpStdio(o: StdioOptions): Promise<void> {
  const closed = defer<void>();
  let server: Server | undefined;
  const tell = (sent: Promise<void> | undefined) =>
    void sent?.catch((error: unknown) => ignore(error, "the client is gone, which closes everything"));
  const watch = new ResourceWatch(o.invoke, {
    updated: (uri) => tell(server?.sendResourceUpdated({ uri })),
    listChanged: () => tell(server?.sendResourceListChanged()),
  });
  const transport = new StdioTransport(o.input, o.output);
  const tools = createToolSet(o.tools);
  const served = serveStdio(() => (server = createMcpServer({ ...o, tools, canNotify: true, watch })), {
    transport,
    onerror: (error) => o.log.warn("mcp message not served", { error }),
  });
  observe(transport, watch, () => closed.resolve());
  const end = () => void served.close().finally(() => closed.resolve());
  o.signal.addEventListener("abort", end, { once: true });
  if (o.signal.aborted) end();
  await closed.promise;
  o.signal.removeEventListener("abort", end);
  watch.close();
}

/** The library serves `subscriptions/listen` (2026) by itself and tells nobody which logs are wanted; it is seen here in passing. */
function observe(transport: StdioTransport, watch: ResourceWatch, onClose: () => void): void {
  const { onmessage, onclose } = transport;
  const listens = new Map<unknown, string[]>();
  transport.onmessage = (message) => {
    onmessage?.(message);
    const { id, method, params } = message as { id?: unknown; method?: string; params?: Record<string, unknown> };
    if (method === "notifications/cancelled") {
      const gone = listens.get(params?.["requestId"]) ?? [];
      listens.delete(params?.["requestId"]);
      const wanted = new Set([...listens.values()].flat());
      for (const uri of gone) if (!wanted.has(uri)) watch.removeLog(uri);
    }
    if (method !== "subscriptions/listen") return;
    const { uris, list } = readFilter(params);
    listens.set(id, uris);
    if (list) watch.watchList();
    for (const uri of uris) {
      watch
        .addLog(uri, AbortSignal.timeout(60_000))
        .catch((error: unknown) => ignore(error, "a log that is not there never changes"));
    }
  };
  transport.onclose = () => {
    onclose?.();
    onClose();
  };
}

/** What `subscriptions/listen` asks for. */
export function readFilter(params: Record<string, unknown> | undefined): { uris: string[]; list: boolean } {
  const asked = params?.["notifications"] as Record<string, unknown> | undefined;
  const uris = asked?.["resourceSubscriptions"];
  return {
    uris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [],
    list: asked?.["resourcesListChanged"] === true,
  };
}
