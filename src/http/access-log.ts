import type { Log, LogFields } from "../base/index.ts";
import type { Grant, OperationName } from "../contract/index.ts";
import type { Asker } from "./caller.ts";

/** One answered request. The path itself is left out: it may carry a client_token. */
export interface Access {
  readonly caller: Asker & Partial<Grant>;
  readonly operation: OperationName | "greeting" | "mcp" | "none";
  readonly method: string;
  readonly status: number;
  readonly startedAt: number;
  readonly processId?: string | undefined;
}

/**
 * One structured line a request; those that a watcher asks for every few seconds only in debug. It is written when the loop has
 * turned, which is after the answer went to its socket: nobody waits for a line in a log.
 */
export function logAccess(log: Log, access: Access): void {
  const { caller, operation } = access;
  const fields: LogFields = {
    request_id: caller.requestId,
    operation,
    method: access.method,
    status: access.status,
    ms: Math.round((performance.now() - access.startedAt) * 100) / 100,
  };
  if (caller.chatId) fields["chat_id"] = caller.chatId;
  if (caller.ancestorChatIds.length > 0) fields["ancestor_chat_ids"] = caller.ancestorChatIds;
  if (caller.tokenId) fields["token_id"] = caller.tokenId;
  if (access.processId) fields["process_id"] = access.processId;
  if (caller.signal.aborted) fields["hung_up"] = true;
  const isRoutine = operation === "daemon.health" || operation === "daemon.metrics";
  setImmediate(() => (isRoutine ? log.debug("request", fields) : log.info("request", fields)));
}
