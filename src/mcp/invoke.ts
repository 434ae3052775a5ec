import type { OperationInput, OperationName, OperationOutput } from "../contract/index.ts";

/** The operations that MCP is made of. */
export type InvokedOperation = Extract<
  OperationName,
  "tool.call" | "process.list" | "process.log" | "process.wait" | "events.stream"
>;
export type CalledOperation = Exclude<InvokedOperation, "events.stream">;

export interface InvokeOptions {
  readonly signal: AbortSignal;
  /** Stored with what the call starts, so that it can be found while the call waits. */
  readonly requestId?: string;
}

/** One event of the daemon; `gap` when some are no longer kept. */
export interface HeardEvent {
  readonly type: string;
}

/** The one thing this room is handed: operations in the daemon, the client in `drover mcp`. Both throw Faults. */
export interface Invoke {
  call<K extends CalledOperation>(
    name: K,
    input: OperationInput<K>,
    options: InvokeOptions,
  ): Promise<OperationOutput<K>>;
  /** From now on, until the signal fires; goes on over restarts of the daemon where it can. */
  events(options: { readonly signal: AbortSignal }): AsyncIterable<HeardEvent>;
}
