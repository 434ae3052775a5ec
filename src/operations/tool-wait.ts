import { TOOL_INPUT_MS, type ToolArguments, type ToolResult, type WaitFor } from "../contract/index.ts";
import { checkWait, type ProcessRecord, waitForTurn } from "../process/index.ts";
import { badArguments } from "../tools/index.ts";
import { namerFor } from "./access.ts";
import { boundWait, findProcess, readDuration, type ToolContext } from "./tool-context.ts";
import { describeProcess, isSuccess, shorten } from "./tool-result.ts";

type WaitResult = ToolResult<"process_wait">;

/** Output and state; waits for the exit unless a part of the log is asked for. */
export async function processOutput(
  context: ToolContext,
  given: ToolArguments<"process_output">,
): Promise<ToolResult<"process_output">> {
  const { from, to, wait_timeout, max_output_bytes: maxBytes } = given;
  if (to !== undefined && to < (from ?? 0)) {
    throw badArguments(context.tool, [{ field: "to", detail: "is not acceptable: it lies before `from`" }]);
  }
  const askedMs = readDuration(context, "wait_timeout", wait_timeout ?? (to === undefined ? "10s" : "0s"));
  const record = findProcess(context, given.process_id);
  if (askedMs > 0 && record.running) {
    await waitForTurn(
      context.rooms.supervisor,
      record,
      { for: { exit: true }, timeout_ms: boundWait(askedMs) },
      { fromStart: true, inputMs: TOOL_INPUT_MS, signal: context.caller.signal },
    );
  }
  const seen = await describeProcess(context, record, { from, to, maxBytes });
  const note = seen.running ? "process is still running" : seen.note;
  return {
    success: isSuccess(seen),
    ...seen,
    command: shorten(record.meta.command),
    ...(note !== undefined && { note }),
  };
}

/** Waits for something to happen. */
export async function processWait(context: ToolContext, given: ToolArguments<"process_wait">): Promise<WaitResult> {
  const { exit, port, match, http, idle, activity } = given.for ?? {};
  const asked: WaitFor = {
    ...(exit && { exit }),
    ...(port !== undefined && { port }),
    ...(match !== undefined && { match }),
    ...(http !== undefined && { http }),
    ...(idle !== undefined && { idle_ms: Math.max(1, readDuration(context, "for.idle", idle, IDLE_MOST_MS)) }),
    ...(activity !== undefined && { activity }),
  };
  const timeoutMs = readDuration(context, "timeout", given.timeout ?? "30s");
  checkWait({ for: asked });
  const record = findProcess(context, given.process_id);
  return waitOn(context, record, { for: asked, timeoutMs, from: given.from, maxBytes: given.max_output_bytes });
}

const IDLE_MOST_MS = 86_400_000;

export interface WaitOn {
  for: WaitFor;
  timeoutMs: number;
  from: number | undefined;
  maxBytes: number | undefined;
}

/** One wait and what is known afterwards. From the first byte on unless told otherwise: what was printed already counts. */
export async function waitOn(context: ToolContext, record: ProcessRecord, o: WaitOn): Promise<WaitResult> {
  const { caller, rooms } = context;
  const answer = await waitForTurn(
    rooms.supervisor,
    record,
    { for: o.for, cursor: o.from ?? 0, timeout_ms: boundWait(o.timeoutMs) },
    {
      fromStart: true,
      inputMs: TOOL_INPUT_MS,
      signal: caller.signal,
      mayName: namerFor(rooms.supervisor, caller),
    },
  );
  const seen = await describeProcess(context, record, { from: o.from, maxBytes: o.maxBytes });
  const fired = answer.fired === "bytes" ? "match" : answer.fired;
  const { match, activity, port_held_by } = answer;
  return {
    success: isWanted(o.for, fired, seen),
    fired,
    ...(match && { match: { ...match, text: match.text.slice(0, MATCH_CHARACTERS) } }),
    ...(activity !== undefined && { activity }),
    ...(port_held_by !== undefined && { port_held_by }),
    ...seen,
    ...(fired === "timeout" && seen.running && { note: sayGoOn(context, record, seen, o.for) }),
  };
}

const MATCH_CHARACTERS = 500;

/** What was waited for happened; an exit only counts when it was asked for, and was a good one. */
function isWanted(asked: WaitFor, fired: WaitResult["fired"], seen: Omit<WaitResult, "success">): boolean {
  if (fired === "timeout") return false;
  if (fired === "activity") return asked.activity !== undefined;
  if (fired !== "exit") return true;
  const names = Object.keys(asked);
  return (names.length === 0 || asked.exit === true) && seen.exit_code === 0;
}

/** The one call that waits on, or that answers. */
export function sayGoOn(
  { say }: ToolContext,
  record: ProcessRecord,
  { waiting, next }: Pick<WaitResult, "waiting" | "next">,
  asked: WaitFor = {},
): string {
  if (waiting) return `it waits for input: ${waiting.answer_with}`;
  const { idle_ms, ...rest } = asked;
  const conditions = { ...rest, ...(idle_ms !== undefined && { idle: `${idle_ms}ms` }) };
  const call = say({
    tool: "process_wait",
    arguments: {
      process_id: record.id,
      ...(Object.keys(conditions).length > 0 && { for: conditions }),
      ...(next !== undefined && { from: next }),
      timeout: "45s",
    },
  });
  return `still running; to go on waiting: ${call}`;
}
