import type { Log } from "../base/index.ts";
import type { Caller } from "../contract/index.ts";
import type { McpDoor } from "../http/index.ts";
import type { Invoke, InvokeOptions, McpHttp } from "../mcp/index.ts";
import type { Operations } from "../operations/index.ts";

/** `/mcp`, whose library is loaded at the first request: most daemons never get one. */
export function createMcpDoor(o: { operations: Operations; version: string; log: Log }): McpDoor {
  let opened: Promise<McpHttp> | undefined;
  const open = async () => (await import("../mcp/index.ts")).createMcpHttp({ version: o.version, log: o.log });
  return {
    async answer({ request, body, caller, tools = "drover", workdir }) {
      opened ??= open();
      const invoke = createInvoke(o.operations, caller);
      const { readOnly, signal } = caller;
      return (await opened).answer({ request, body, invoke, tools, workdir, readOnly, signal });
    },
  };
}

/** Operations in the name of one caller. */
function createInvoke(operations: Operations, caller: Caller): Invoke {
  return {
    async call(name, input, options) {
      const operation = operations[name] as (given: typeof input, by: Caller) => ReturnType<Invoke["call"]>;
      const own = joinSignals(caller, options);
      try {
        return (await operation(input, own.caller)) as never;
      } finally {
        own.close();
      }
    },
    async *events(options) {
      const own = joinSignals(caller, options);
      try {
        for await (const { event } of operations["events.stream"]({}, own.caller)) yield { type: event };
      } finally {
        own.close();
      }
    },
  };
}

/**
 * The caller for as long as neither signal has fired. Not AbortSignal.any, which leaves a trace in its sources until they are gone: a
 * subscription may last for weeks and asks every second.
 */
function joinSignals(caller: Caller, { signal, requestId }: InvokeOptions): { caller: Caller; close(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const sources = [caller.signal, signal];
  for (const source of sources) source.addEventListener("abort", abort, { once: true });
  if (sources.some((source) => source.aborted)) abort();
  return {
    caller: { ...caller, requestId: requestId ?? caller.requestId, signal: controller.signal },
    close: () => sources.forEach((source) => source.removeEventListener("abort", abort)),
  };
}
