import { resolve } from "node:path";
import { type Caller, type OwnCall, TOOL_CALL_MS, type ToolName, toProcessId } from "../contract/index.ts";
import type { ProcessRecord } from "../process/index.ts";
import { badArguments, chooseProcess, formatDuration, isPrefix, parseDuration } from "../tools/index.ts";
import type { Rooms } from "./create.ts";

/** Enough to see that a name is ambiguous. */
const CANDIDATES = 20;

/** One tool call on its way. */
export interface ToolContext {
  readonly rooms: Rooms;
  readonly caller: Caller;
  readonly tool: ToolName;
  /** Where a command runs that names no directory. */
  readonly workdir?: string | undefined;
  /** A call as a line that the model can follow. */
  readonly say: (call: OwnCall) => string;
  /** Whether the model has this tool at all. */
  readonly offers: (tool: ToolName) => boolean;
}

/** The process that a model means by an id, the beginning of one, or a label. */
export function findProcess({ rooms, caller }: ToolContext, name: string): ProcessRecord {
  const { supervisor } = rooms;
  const id = toProcessId(name.trim().toLowerCase());
  const known = id && supervisor.find(id, caller);
  if (known) return known;
  const list = (query: { label?: string; prefix?: string; all?: boolean }) =>
    supervisor.list({ limit: CANDIDATES, ...query }, caller).records.map(toNamed);
  const chosen = chooseProcess(name, {
    labelled: list({ label: name, all: true }),
    prefixed: isPrefix(name) ? list({ prefix: name.toLowerCase(), all: true }) : [],
    running: list({}).filter((process) => process.running),
  });
  return chosen.record;
}

function toNamed(record: ProcessRecord) {
  const { id, running } = record;
  const { label, command, seq } = record.meta;
  return { id, label, command, seq, running, record };
}

/** Milliseconds of a duration argument; a fault that names the argument when it is none. */
export function readDuration({ tool }: ToolContext, field: string, text: string, mostMs = Infinity): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    const hint = /^\d+(\.\d+)?$/.test(text) ? `; did you mean "${text}s"?` : "";
    throw badArguments(tool, [
      { field, detail: `is not acceptable: "${text}" is no duration such as "30s" or "1m30s"${hint}` },
    ]);
  }
  if (ms > mostMs) {
    const detail = `is not acceptable: ${formatDuration(ms)} is over the bound of ${formatDuration(mostMs)}`;
    throw badArguments(tool, [{ field, detail }]);
  }
  return ms;
}

/** How long this call may wait: what was asked for, within what a call may last. */
export function boundWait(askedMs: number): number {
  return Math.min(askedMs, TOOL_CALL_MS);
}

/** The directory of a command: a relative one lies below the caller's. */
export function directoryOf({ workdir: base }: ToolContext, workdir: string | undefined): string | undefined {
  if (base === undefined || workdir === undefined || workdir === "") return workdir || base;
  return resolve(base, workdir);
}
