import {
  Fault,
  type StartRequest,
  TOOL_CALL_MS,
  TOOL_INPUT_MS,
  type ToolArguments,
  type ToolResult,
  type WaitFor,
} from "../contract/index.ts";
import { checkWait, type ProcessRecord, waitForTurn } from "../process/index.ts";
import { adviceFor, formatDuration, toolEnvironment, withoutTrailingAmpersand } from "../tools/index.ts";
import { boundWait, directoryOf, readDuration, type ToolContext } from "./tool-context.ts";
import { describeProcess, isSuccess, wallDuration } from "./tool-result.ts";
import { sayGoOn, waitOn } from "./tool-wait.ts";

type Arguments = ToolArguments<"execute">;
type Result = ToolResult<"execute">;

/** Thirty days; what should live longer has no lifetime. */
const LIFETIME_MOST_MS = 2_592_000_000;

/** Runs a command, or starts it and leaves it running. */
export async function execute(context: ToolContext, given: Arguments): Promise<Result> {
  const promoted = given.run_in_background === true ? undefined : withoutTrailingAmpersand(given.command);
  const isBackground = given.run_in_background === true || promoted !== undefined;
  const waits = isBackground && given.wait_for !== undefined;
  const timeoutMs = readDuration(context, "timeout", given.timeout ?? (waits ? "30s" : "10s"));
  const request = toStart(context, given, { command: promoted ?? given.command, isBackground });
  if (waits) checkWait({ for: toConditions(given.wait_for) });
  let record: ProcessRecord;
  try {
    ({ record } = await context.rooms.supervisor.start(request, context.caller));
  } catch (error) {
    return toFailedStart(error);
  }
  if (waits) {
    return waitUntilReady(context, record, {
      for: toConditions(given.wait_for),
      timeoutMs,
      maxBytes: given.max_output_bytes,
    });
  }
  return isBackground
    ? toStarted(context, record, promoted !== undefined)
    : waitInForeground(context, record, given, timeoutMs);
}

function toStart(context: ToolContext, given: Arguments, o: { command: string; isBackground: boolean }): StartRequest {
  const { label, tty, interactive, shell, login, lifetime } = given;
  const workdir = directoryOf(context, given.workdir);
  return {
    command: o.command,
    background: o.isBackground,
    env: toolEnvironment(context.caller.chatId),
    ...(workdir !== undefined && { workdir }),
    ...(label !== undefined && { label }),
    ...(tty && { tty }),
    ...(interactive && { stdin: { open: true as const } }),
    ...(shell !== undefined && { shell }),
    ...(login && { login }),
    ...(lifetime !== undefined && {
      timeout_ms: Math.max(1, readDuration(context, "lifetime", lifetime, LIFETIME_MOST_MS)),
    }),
  };
}

function toConditions({ port, match, http }: NonNullable<Arguments["wait_for"]> = {}): WaitFor {
  return {
    ...(port !== undefined && { port }),
    ...(match !== undefined && { match }),
    ...(http !== undefined && { http }),
  };
}

/** Nothing was started, so nothing is said about an exit. */
function toFailedStart(error: unknown): Result {
  if (!(error instanceof Fault) || error.code.startsWith("auth/")) throw error;
  const { message, detail } = error;
  return { success: false, error: detail && !message.includes(detail) ? `${message} ${detail}` : message };
}

function toStarted({ say }: ToolContext, record: ProcessRecord, isPromoted: boolean): Result {
  const wait = say({ tool: "process_wait", arguments: { process_id: record.id } });
  return {
    success: true,
    process_id: record.id,
    background_process_id: record.id,
    backgrounded: true,
    ...(isPromoted && { note: `started in the background because of the trailing &; to wait for it: ${wait}` }),
  };
}

async function waitUntilReady(
  context: ToolContext,
  record: ProcessRecord,
  o: { for: WaitFor; timeoutMs: number; maxBytes: number | undefined },
): Promise<Result> {
  const result = await waitOn(context, record, { ...o, from: 0 });
  return { ...result, ...(record.running && { background_process_id: record.id, backgrounded: true }) };
}

async function waitInForeground(
  context: ToolContext,
  record: ProcessRecord,
  given: Arguments,
  timeoutMs: number,
): Promise<Result> {
  const { fired } = await waitForTurn(
    context.rooms.supervisor,
    record,
    { for: { exit: true }, cursor: 0, timeout_ms: boundWait(timeoutMs) },
    { fromStart: true, inputMs: TOOL_INPUT_MS, signal: context.caller.signal },
  );
  const seen = await describeProcess(context, record, { maxBytes: given.max_output_bytes });
  const advice = context.offers("read_file") ? adviceFor(given.command) : undefined;
  if (!seen.running) {
    const note = seen.note ?? advice;
    return { success: isSuccess(seen), ...seen, ...wallDuration(record), ...(note !== undefined && { note }) };
  }
  const isTimeout = fired === "timeout" && timeoutMs <= TOOL_CALL_MS;
  return {
    success: !isTimeout,
    ...seen,
    ...(isTimeout && { error: `command timed out after ${formatDuration(timeoutMs)}` }),
    background_process_id: record.id,
    note: sayGoOn(context, record, seen),
  };
}
