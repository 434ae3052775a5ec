import { createMcpHandler, type ServerEvent, type ServerEventBus } from "@modelcontextprotocol/server";
import type { Log } from "../base/index.ts";
import { ignore } from "../base/index.ts";
import type { ToolSetName } from "../contract/index.ts";
import type { Invoke } from "./invoke.ts";
import { ResourceWatch } from "./resource-watch.ts";
import { createMcpServer } from "./server.ts";
import { readFilter } from "./stdio.ts";
import { createToolSet, type ToolSet } from "./tool-set.ts";

/** One HTTP request that was let in. */
export interface McpRequest {
  readonly request: Request;
  /** The body as text; it has been read from the request. */
  readonly body: string;
  /** In the name of whoever sent the request. */
  readonly invoke: Invoke;
  readonly tools: ToolSetName;
  readonly workdir?: string | undefined;
  readonly readOnly: boolean;
  /** Fires when the sender hangs up or the daemon ends. */
  readonly signal: AbortSignal;
}

/** The streamable HTTP form: one server per request, nothing is kept between two. */
export interface McpHttp {
  answer(request: McpRequest): Promise<Response>;
}

/** Made once in a daemon, at the first request. */
export function createMcpHttp(o: { version: string; log: Log }): McpHttp {
  const sets = new Map<ToolSetName, ToolSet>();
  const setOf = (name: ToolSetName) => {
    const made = sets.get(name) ?? createToolSet(name);
    sets.set(name, made);
    return made;
  };
  return {
    async answer({ request, body, invoke, tools, workdir, readOnly, signal }) {
      const parsed = parse(body);
      const rooms = { invoke, tools: setOf(tools), workdir, readOnly, version: o.version };
      const handler = createMcpHandler(
        // A 2025 client has no session here and so nothing that a change could be told on.
        ({ era }) => createMcpServer({ ...rooms, canNotify: era === "modern" }),
        { bus: createBus(invoke, parsed), onerror: (error) => o.log.debug("mcp request not served", { error }) },
      );
      signal.addEventListener("abort", () => void handler.close(), { once: true });
      const { method, headers, url } = request;
      const again = new Request(url, { method, headers, signal, ...(method === "POST" && { body }) });
      return handler.fetch(again, parsed === undefined ? {} : { parsedBody: parsed });
    },
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    ignore(error, "the library answers what cannot be read");
    return undefined;
  }
}

/** Changes for the one `subscriptions/listen` that the request may be, watched in the name of its sender while it is open. */
function createBus(invoke: Invoke, message: unknown): ServerEventBus {
  return {
    publish() {},
    subscribe(listener) {
      const { uris, list } = readFilter((message as { params?: Record<string, unknown> }).params);
      const tell = (event: ServerEvent) => listener(event);
      const watch = new ResourceWatch(invoke, {
        updated: (uri) => tell({ kind: "resource_updated", uri }),
        listChanged: () => tell({ kind: "resources_list_changed" }),
      });
      if (list) watch.watchList();
      for (const uri of uris) {
        watch
          .addLog(uri, AbortSignal.timeout(60_000))
          .catch((error: unknown) => ignore(error, "a log that is not there never changes"));
      }
      return () => watch.close();
    },
  };
}
