import { lastBorder } from "../base/index.ts";
import { TOOL_OUTPUT_BYTES, type ToolResult } from "../contract/index.ts";
import { acceptsInput, isWaitingForInput, type ProcessRecord, readLogBytes, renderText } from "../process/index.ts";
import { type Fitted, fitOutput } from "../tools/index.ts";
import type { ToolContext } from "./tool-context.ts";
import { toEnd, toLeftovers } from "./wire.ts";

type Result = ToolResult<"execute">;
/** Descendants that are named; a build may leave hundreds. */
const LEFTOVERS = 20;
const COMMAND_CHARACTERS = 300;

export interface ShownRange {
  /** Default: all of it. */
  from?: number | undefined;
  to?: number | undefined;
  maxBytes?: number | undefined;
}

/** What is known about a process now: state first, then output, so that a finished one is shown whole. */
export async function describeProcess(
  context: ToolContext,
  record: ProcessRecord,
  range: ShownRange,
): Promise<Omit<Result, "success">> {
  const { running } = record;
  const seen = await lookAt(context, record);
  return {
    process_id: record.id,
    ...(running && { running }),
    ...(!running && toEnd(record)),
    ...(record.facts.state === "lost" && record.facts.evidence !== undefined && { note: record.facts.evidence }),
    ...readShown(context, record, range),
    ...seen,
  };
}

/** The command ended well, or is still at it. */
export function isSuccess({ running, exit_code }: Pick<Result, "running" | "exit_code">): boolean {
  return running === true || exit_code === 0;
}

/** Milliseconds from its start to its end, when both were observed. */
export function wallDuration({ facts }: ProcessRecord): { wall_duration_ms?: number } {
  if (facts.exited_at_ms === undefined) return {};
  return { wall_duration_ms: Math.max(0, Math.round(facts.exited_at_ms - facts.started_at_ms)) };
}

/** A long command, shortened for a result. */
export function shorten(command: string): string {
  return command.length > COMMAND_CHARACTERS ? `${command.slice(0, COMMAND_CHARACTERS)} ... [truncated]` : command;
}

/** What only the kernel can tell: whether it waits for input, or what it left behind. */
async function lookAt(
  { rooms, say }: ToolContext,
  record: ProcessRecord,
): Promise<Pick<Result, "waiting" | "leftovers">> {
  const { supervisor } = rooms;
  if (!record.running) {
    if (record.facts.leftover_count === 0) return {};
    const found = toLeftovers(record, await supervisor.inspect(record, { tree: true })).slice(0, LEFTOVERS);
    const leftovers = found.map(({ pid, command }) => ({ pid, command: shorten(command) }));
    return leftovers.length > 0 ? { leftovers } : {};
  }
  if (!acceptsInput(record)) return {};
  const kind = (await supervisor.inspect(record, { activity: true })).look?.activity;
  if (!isWaitingForInput(kind)) return {};
  const answer = {
    process_id: record.id,
    text: "…",
    ...(kind === "waiting_secret" && { secret: true }),
    ...(kind === "waiting_keys" && { press_enter: false }),
  };
  return { waiting: { kind, answer_with: say({ tool: "process_input", arguments: answer }) } };
}

function readShown(
  context: ToolContext,
  record: ProcessRecord,
  range: ShownRange,
): Pick<Result, "output" | "truncated" | "omitted" | "next"> {
  const { supervisor, metrics } = context.rooms;
  const { running } = record;
  const { end, dropped } = supervisor.measureLog(record);
  const whole = running ? characterEnd(context, record, end) : end;
  const to = Math.min(range.to ?? whole, end);
  const from = Math.min(range.from ?? 0, to);
  const fitted = fitOutput(
    { from, to, dropped, read: (a, b) => readLogBytes(supervisor, record, { from: a, to: b }), render: renderText },
    range.maxBytes ?? TOOL_OUTPUT_BYTES,
  );
  metrics.outputRead(fitted.text.length);
  return {
    ...(fitted.text !== "" && { output: fitted.text }),
    ...toTruncation(fitted, to - from),
    ...toOmitted(context, record, fitted),
    // More may come: also from what a command left behind.
    ...(!record.ended && range.to === undefined && { next: to }),
  };
}

/** A character that is not whole yet is left for the next read. */
function characterEnd({ rooms }: ToolContext, record: ProcessRecord, end: number): number {
  const { data, to } = readLogBytes(rooms.supervisor, record, { from: Math.max(0, end - 4), to: end });
  return to === end ? end - (data.length - lastBorder(data)) : end;
}

function toTruncation(fitted: Fitted, original: number): Pick<Result, "truncated"> {
  const missing = [...fitted.omitted, ...fitted.gone];
  if (missing.length === 0 && fitted.cutLines === 0) return {};
  return {
    truncated: {
      original_bytes: original,
      retained_bytes: Buffer.byteLength(fitted.text),
      omitted_bytes: missing.reduce((sum, [from, to]) => sum + to - from, 0),
      strategy: "head_tail",
      ...(fitted.cutLines > 0 && { cut_lines: fitted.cutLines }),
    },
  };
}

function toOmitted({ say }: ToolContext, { id }: ProcessRecord, fitted: Fitted): Pick<Result, "omitted"> {
  const omitted = [
    ...fitted.omitted.map(([from, to]) => ({
      from,
      to,
      fetch: say({ tool: "process_output", arguments: { process_id: id, from, to } }),
    })),
    ...fitted.gone.map(([from, to]) => ({ from, to, gone: true as const })),
  ].toSorted((a, b) => a.from - b.from);
  return omitted.length > 0 ? { omitted } : {};
}
