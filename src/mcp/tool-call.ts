import { randomUUID } from "node:crypto";
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { type Alias, Fault, type OwnCall, type ToolCall } from "../contract/index.ts";
import { toFailure, toResult } from "./answer.ts";
import type { Invoke } from "./invoke.ts";
import { findStarted, reportProgress } from "./progress.ts";
import type { ToolSet } from "./tool-set.ts";

/** What a connection settles for every call. */
export interface CallRooms {
  readonly invoke: Invoke;
  readonly tools: ToolSet;
  /** Where commands run that name no directory; the daemon's own choice when absent. */
  readonly workdir?: string | undefined;
}

/** One call on its way. */
interface Turn extends CallRooms {
  readonly given: ToolCall;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** One call of a tool. A cancelled one stops waiting; the process goes on. */
export async function callTool(rooms: CallRooms, given: ToolCall, { mcpReq }: ServerContext): Promise<CallToolResult> {
  const { signal } = mcpReq;
  const turn: Turn = { ...rooms, given, requestId: randomUUID(), signal };
  const alias = rooms.tools.find(given.tool);
  const own = alias && toOwnCall(alias, given);
  const progressToken = mcpReq._meta?.progressToken;
  const notify = (progress: number, message: string) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
  const stop = own && progressToken !== undefined ? reportProgress({ ...turn, call: own, notify }) : undefined;
  try {
    return toResult(await invokeTool(turn, given));
  } catch (error) {
    if (!own || !isCutOff(error) || signal.aborted) return toFailure(error);
    return await goOn(turn, alias, own, error).catch(toFailure);
  } finally {
    stop?.();
  }
}

function invokeTool({ invoke, tools, workdir, requestId, signal }: Turn, { tool, arguments: args }: ToolCall) {
  const input = { name: tool, set: tools.name, arguments: { ...args }, ...(workdir !== undefined && { workdir }) };
  return invoke.call("tool.call", input, { signal, requestId });
}

/** Undefined for a call that will be refused. */
function toOwnCall(alias: Alias, given: ToolCall): OwnCall | undefined {
  const checked = alias.input.safeParse(given.arguments);
  return checked.success ? alias.toCall(checked.data) : undefined;
}

/** The daemon went away in the middle of the call: what it did is not known. */
function isCutOff(error: unknown): boolean {
  return error instanceof Fault && (error.code === "client/unreachable" || error.code === "daemon/shutting-down");
}

/**
 * Calls that may be made twice are made again. A command is never started twice: the process is found by the request's id once the
 * daemon is back, and what it wrote is the answer.
 */
async function goOn(turn: Turn, alias: Alias, own: OwnCall, error: unknown): Promise<CallToolResult> {
  if (alias.annotations.idempotentHint) return toResult(await invokeTool(turn, turn.given));
  if (own.tool !== "execute") throw error;
  const id = await findStarted(turn.invoke, turn.requestId, turn.signal);
  const reading = id && turn.tools.say({ tool: "process_output", arguments: { process_id: id } });
  if (!reading) throw error;
  return toResult(await invokeTool(turn, reading));
}
