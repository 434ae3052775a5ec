import { z } from "zod";
import { endReason, leftover, truncation } from "./process.ts";

const count = z.int().min(0);
const range = z.object({ from: count, to: count });

/** A part of the output that is not shown, with the call that fetches it. */
const omitted = z
  .object({
    from: count,
    to: count,
    fetch: z.string().optional().describe("The call that shows it."),
    gone: z.literal(true).optional().describe("No longer kept."),
  })
  .meta({ id: "OmittedOutput" });

/** The command asks for input; told by the kernel, never guessed from text. */
const waiting = z
  .object({
    kind: z.enum(["waiting_line", "waiting_secret", "waiting_keys"]),
    answer_with: z.string().describe("The call that answers it."),
  })
  .meta({ id: "WaitingForInput" });

/** What every tool about one process answers. A field that is not known is absent. */
export const processResult = z
  .object({
    success: z
      .boolean()
      .describe("The command exited with 0, or, while it runs, the call did what was asked. False on timeout."),
    process_id: z.string().optional().describe("Handle of the process; absent when nothing was started."),
    running: z.boolean().optional(),
    exit_code: z.int().optional().describe("Only once it has exited; -1 when a signal ended it."),
    signal: z.string().optional(),
    reason: endReason.optional(),
    output: z.string().optional(),
    error: z.string().optional(),
    note: z.string().optional(),
    waiting: waiting.optional(),
    omitted: z.array(omitted).optional().describe("Exact byte ranges of the log that are not in `output`."),
    truncated: truncation.omit({ omitted: true }).meta({ id: "ToolTruncation" }).optional(),
    next: count.optional().describe("Byte of the log after `output`: pass it as `from` to get only what is new."),
    leftovers: z.array(leftover).optional().describe("Descendants that still run although the command has exited."),
    wall_duration_ms: count.optional(),
    background_process_id: z.string().optional(),
    backgrounded: z.boolean().optional(),
    command: z.string().optional(),
  })
  .meta({ id: "ToolProcessResult" });

/** The above, and which condition ended a wait. */
export const waitResult = processResult
  .extend({
    fired: z.enum(["exit", "match", "port", "http", "idle", "activity", "timeout"]).optional(),
    match: z.object({ text: z.string(), from: count, to: count }).optional(),
    activity: z.string().optional(),
    port_held_by: z.string().optional().describe("Who else listens on the port that was waited for."),
  })
  .meta({ id: "ToolWaitResult" });

export const inputResult = waitResult.extend({ written_bytes: count.optional() }).meta({ id: "ToolInputResult" });

export const signalResult = z
  .object({
    success: z.boolean(),
    message: z.string().optional(),
    process_id: z.string().optional(),
    reached: count.optional().describe("Processes that the signal was sent to."),
    error: z.string().optional(),
  })
  .meta({ id: "ToolSignalResult" });

export const stopResult = z
  .object({
    success: z.boolean().describe("Nothing is left of it."),
    process_id: z.string().optional(),
    exit_code: z.int().optional(),
    signal: z.string().optional(),
    reason: endReason.optional(),
    ended: z.array(z.object({ pid: z.int(), command: z.string(), by: z.string() })).optional(),
    left: z.array(z.object({ pid: z.int(), command: z.string(), why: z.string() })).optional(),
    error: z.string().optional(),
    note: z.string().optional(),
  })
  .meta({ id: "ToolStopResult" });

const listed = z
  .object({
    id: z.string(),
    label: z.string().optional(),
    command: z.string().describe("Cut when it is long."),
    workdir: z.string().optional(),
    background: z.boolean(),
    running: z.boolean(),
    exit_code: z.int().optional(),
    signal: z.string().optional(),
    reason: endReason.optional(),
    started_at_unix: count,
    exited_at_unix: count.optional(),
    leftover_count: count.optional(),
    log_end: count.describe("Bytes of output so far."),
    ports: z.array(z.int()).optional().describe("What it listens on."),
    activity: z.string().optional(),
  })
  .meta({ id: "ToolListedProcess" });

export const listResult = z
  .object({
    processes: z.array(listed),
    hidden: count.optional().describe("Older ones that exited; `all` shows them."),
    next: z.string().optional().describe("Pass it as `cursor` for the next page."),
  })
  .meta({ id: "ToolListResult" });

export const searchResult = z
  .object({
    success: z.boolean(),
    process_id: z.string().optional(),
    matches: z
      .array(
        z.object({
          from: count,
          to: count,
          line: z.string(),
          before: z.array(z.string()).optional(),
          after: z.array(z.string()).optional(),
        }),
      )
      .optional(),
    running: z.boolean().optional(),
    searched: range.optional(),
    next: count.optional().describe("Pass it as `from` to go on: there is more."),
    dropped: z.array(range).optional().describe("Byte ranges that are no longer kept."),
    cut_lines: count.optional().describe("Lines shown only in part."),
    error: z.string().optional(),
  })
  .meta({ id: "ToolSearchResult" });
