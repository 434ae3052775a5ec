import type { ToolArguments, ToolResult } from "../contract/index.ts";
import { acceptsInput, type ProcessRecord, renderText, waitForTurn } from "../process/index.ts";
import { cutLines } from "../tools/index.ts";
import type { Operations } from "./table.ts";
import { boundWait, findProcess, readDuration, type ToolContext } from "./tool-context.ts";
import { describeProcess, shorten } from "./tool-result.ts";
import { toSummary } from "./wire.ts";

/** What the tools of this file are made of. */
export type Control = Pick<Operations, "process.signal" | "process.stop" | "process.stdin" | "process.search">;

/** Longest wait between TERM and KILL: the call has to end in time. */
const GRACE_MOST_MS = 40_000;
/** After input: a prompt that stays this long is the next one. */
const NEXT_PROMPT_MS = 300;
/** Running processes whose ports are asked for in one list; each costs its shim a walk through /proc. */
const LOOKED_AT = 32;
const LIMIT = 50;
const LINE_BYTES = 1_024;
const SEARCH_BYTES = 16_384;

export async function processList(
  { rooms, caller }: ToolContext,
  given: ToolArguments<"process_list">,
): Promise<ToolResult<"process_list">> {
  const { supervisor } = rooms;
  const { all, label, cursor } = given;
  const query = {
    ...(all && { all, limit: 100 }),
    ...(label !== undefined && { label }),
    ...(cursor !== undefined && { cursor, limit: 100 }),
  };
  const { records, hidden, next } = supervisor.list(query, caller);
  const running = records.filter((record) => record.running).slice(0, LOOKED_AT);
  const looks = await Promise.all(
    running.map(async (record) => {
      const { look } = await supervisor.inspect(record, { ports: true, activity: true });
      return [record.id, look] as const;
    }),
  );
  const seen = new Map(looks);
  const processes = records.map((record) => {
    const look = seen.get(record.id);
    const ports = [...new Set(look?.ports.map(({ port }) => port))];
    return {
      ...toListed(record, supervisor.recentLogEnd(record)),
      ...(ports.length > 0 && { ports }),
      ...(look?.activity !== undefined && look.activity !== "unknown" && { activity: look.activity }),
    };
  });
  return { processes, ...(hidden !== undefined && { hidden }), ...(next !== undefined && { next }) };
}

/** The original's fields and what a model can use; the rest is in `GET /processes/list`. */
function toListed(record: ProcessRecord, logEnd: number): ToolResult<"process_list">["processes"][number] {
  const { id, label, command, workdir, background, running, ...rest } = toSummary(record, logEnd);
  const { exit_code, signal, reason, started_at_unix, exited_at_unix, leftover_count, log_end } = rest;
  return {
    id,
    ...(label !== undefined && { label }),
    command: shorten(command),
    ...(workdir !== undefined && { workdir }),
    background,
    running,
    ...(exit_code !== undefined && { exit_code }),
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
    started_at_unix,
    ...(exited_at_unix !== undefined && { exited_at_unix }),
    ...(leftover_count && { leftover_count }),
    log_end,
  };
}

export async function processSignal(
  context: ToolContext,
  control: Control,
  { process_id, signal }: ToolArguments<"process_signal">,
): Promise<ToolResult<"process_signal">> {
  const { id } = findProcess(context, process_id);
  const { message, reached } = await control["process.signal"]({ id, signal }, context.caller);
  return { success: true, message, process_id: id, reached };
}

export async function processStop(
  context: ToolContext,
  control: Control,
  { process_id, grace }: ToolArguments<"process_stop">,
): Promise<ToolResult<"process_stop">> {
  const graceMs = grace === undefined ? undefined : readDuration(context, "grace", grace, GRACE_MOST_MS);
  const { id } = findProcess(context, process_id);
  const signals = graceMs === undefined ? {} : { signals: [{ signal: "TERM", wait_ms: graceMs }, { signal: "KILL" }] };
  const { stopped, ended, left, ...end } = await control["process.stop"]({ id, ...signals }, context.caller);
  const named = ended.map((process) => ({ ...process, command: shorten(process.command) }));
  return { success: stopped, process_id: id, ...end, ended: named, ...(left.length > 0 && { left }) };
}

/** Writes, then waits a moment for what follows: the exit, or the next question. */
export async function processInput(
  context: ToolContext,
  control: Control,
  given: ToolArguments<"process_input">,
): Promise<ToolResult<"process_input">> {
  const { supervisor } = context.rooms;
  const { text, close, secret, max_output_bytes: maxBytes } = given;
  const waitMs = readDuration(context, "wait_timeout", given.wait_timeout ?? "2s");
  const record = findProcess(context, given.process_id);
  if (!acceptsInput(record)) {
    const error = "It was started without stdin; start it again with `tty: true` or `interactive: true`.";
    return { success: false, error };
  }
  const enter = (given.press_enter ?? text !== undefined) ? (record.meta.tty ? "\r" : "\n") : "";
  const data = text === undefined && enter === "" ? undefined : `${text ?? ""}${enter}`;
  const from = supervisor.logEnd(record);
  const { written } = await control["process.stdin"](
    { id: record.id, ...(data !== undefined && { data }), ...(close && { close }) },
    context.caller,
  );
  await waitForTurn(
    supervisor,
    record,
    { for: { exit: true }, timeout_ms: boundWait(waitMs) },
    { fromStart: false, inputMs: NEXT_PROMPT_MS, signal: context.caller.signal },
  );
  const { output, ...seen } = await describeProcess(context, record, { from, maxBytes });
  const shown = secret && text ? output?.replaceAll(text, "[secret]") : output;
  const success = seen.running === true || seen.exit_code === 0;
  return { success, ...seen, ...(shown !== undefined && { output: shown }), written_bytes: written };
}

/** Lines that match, as text, within the budget; what does not fit any more is where `next` goes on. */
export async function processSearch(
  context: ToolContext,
  control: Control,
  given: ToolArguments<"process_search">,
): Promise<ToolResult<"process_search">> {
  const { query, regex, ignore_case, context: around, from, limit, max_output_bytes } = given;
  const record = findProcess(context, given.process_id);
  const { matches, searched, next, dropped } = await control["process.search"](
    {
      id: record.id,
      q: query,
      limit: limit ?? LIMIT,
      ...(regex && { regex }),
      ...(ignore_case && { ignore_case }),
      ...(around !== undefined && { context: around }),
      ...(from !== undefined && { from }),
    },
    context.caller,
  );
  let left = max_output_bytes ?? SEARCH_BYTES;
  let cut = 0;
  const show = (line: string) => {
    const view = cutLines(Buffer.from(renderText(line)), LINE_BYTES);
    cut += view.cutLines;
    left -= Buffer.byteLength(view.text);
    return view.text;
  };
  const shown: NonNullable<ToolResult<"process_search">["matches"]> = [];
  for (const match of matches) {
    const before = match.before.map(show);
    const line = show(match.line);
    const after = match.after.map(show);
    if (left < 0 && shown.length > 0) break;
    shown.push({ from: match.from, to: match.to, line, ...(around && { before, after }) });
  }
  const goOn = matches[shown.length]?.from ?? next;
  return {
    success: true,
    process_id: record.id,
    matches: shown,
    ...(record.running && { running: true }),
    searched: { from: searched[0], to: searched[1] },
    ...(goOn !== undefined && { next: goOn }),
    ...(dropped.length > 0 && { dropped: dropped.map(([a, b]) => ({ from: a, to: b })) }),
    ...(cut > 0 && { cut_lines: cut }),
  };
}
