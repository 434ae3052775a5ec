import { type EndReason, Fault, type OutputAnswer, type ProcessInfo, type ProcessSummary } from "../contract/index.ts";
import type { Inspection, ProcessRecord, Supervisor } from "../process/index.ts";

/** How it ended; all absent while it runs. */
export function toEnd(record: ProcessRecord): { exit_code?: number; signal?: string; reason?: EndReason } {
  const { exit_code, signal, reason } = record.facts;
  return {
    ...(exit_code !== undefined && { exit_code }),
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
  };
}

/** An entry of the list. */
export function toSummary(record: ProcessRecord, logEnd: number): ProcessSummary {
  const { meta, facts } = record;
  return {
    id: record.id,
    command: meta.command,
    workdir: meta.workdir,
    background: meta.background,
    running: record.running,
    ...toEnd(record),
    started_at_unix: Math.floor(facts.started_at_ms / 1000),
    ...(facts.exited_at_ms !== undefined && { exited_at_unix: Math.floor(facts.exited_at_ms / 1000) }),
    state: facts.state,
    ...(meta.label !== undefined && { label: meta.label }),
    ...(meta.chat_id !== undefined && { chat_id: meta.chat_id }),
    ...(facts.pid !== undefined && { pid: facts.pid }),
    tty: meta.tty,
    started_at: toTime(facts.started_at_ms),
    ...(facts.exited_at_ms !== undefined && { exited_at: toTime(facts.exited_at_ms) }),
    ...(!record.running && { leftover_count: facts.leftover_count }),
    log_end: logEnd,
    seq: meta.seq,
    ...(meta.request_id !== undefined && { request_id: meta.request_id }),
  };
}

/** Everything known about one process. */
export async function toInfo(supervisor: Supervisor, record: ProcessRecord): Promise<ProcessInfo> {
  const seen = await supervisor.inspect(record, { tree: !record.running, activity: true, ports: true, usage: true });
  supervisor.refresh(record);
  const { meta, facts } = record;
  const log = supervisor.measureLog(record);
  const leftovers = record.running ? [] : toLeftovers(record, seen);
  return {
    ...toSummary(record, log.end),
    argv: meta.argv,
    machine_id: meta.machine_id,
    ...(meta.shell !== undefined && { shell: meta.shell }),
    streams: meta.streams,
    ...toSize(record, seen),
    stdin: toStdin(record, seen),
    supervised: facts.supervised,
    ...(facts.evidence !== undefined && { evidence: facts.evidence }),
    warnings: facts.warnings,
    ...(facts.pid_start !== undefined && { pid_start: facts.pid_start }),
    ...toUsage(record, seen),
    ...(leftovers.length > 0 && { leftovers }),
    ...(seen.look?.ports.length && { ports: seen.look.ports }),
    ...(record.running && seen.look?.activity && { activity: seen.look.activity }),
    ...(meta.limits && { limits: meta.limits }),
    ...toEnforced(record),
    ...(meta.timeout_ms !== undefined && { timeout_ms: meta.timeout_ms }),
    ...(meta.idle_timeout_ms !== undefined && { idle_timeout_ms: meta.idle_timeout_ms }),
    on_chat_end: meta.on_chat_end,
    log,
    ...(meta.traceparent !== undefined && { traceparent: meta.traceparent }),
  };
}

/** Descendants that live although the command has ended. */
export function toLeftovers(record: ProcessRecord, seen: Inspection): NonNullable<OutputAnswer["leftovers"]> {
  const tree = seen.look?.tree ?? [];
  return tree.filter((p) => p.pid !== record.facts.pid).map(({ pid, command }) => ({ pid, command }));
}

export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** A fault about one field. */
export function invalidField(
  field: string,
  detail: string,
  message = `The field "${field}" is not acceptable: ${detail}.`,
): Fault {
  return new Fault("request/invalid", message, { validations: [{ field, detail }] });
}

function toSize({ meta }: ProcessRecord, { status }: Inspection): { cols?: number; rows?: number } {
  const cols = status?.cols ?? meta.cols;
  const rows = status?.rows ?? meta.rows;
  return { ...(cols !== undefined && { cols }), ...(rows !== undefined && { rows }) };
}

function toStdin(record: ProcessRecord, { status }: Inspection): ProcessInfo["stdin"] {
  if (status) return status.stdin;
  if (record.meta.stdin === "null") return "null";
  return record.running ? record.meta.stdin : "closed";
}

function toUsage(record: ProcessRecord, { look }: Inspection): { usage?: NonNullable<ProcessInfo["usage"]> } {
  const { facts } = record;
  if (facts.usage) return { usage: facts.usage };
  if (!look?.usage) return {};
  const { userMs, systemMs, rssBytes, readBytes, writtenBytes } = look.usage;
  const usage = {
    user_ms: userMs,
    system_ms: systemMs,
    rss_bytes: rssBytes,
    wall_ms: Math.max(0, Date.now() - facts.started_at_ms),
    ...(readBytes !== undefined && { read_bytes: readBytes }),
    ...(writtenBytes !== undefined && { written_bytes: writtenBytes }),
  };
  return { usage };
}

/** Each limit that was asked for, and how it is enforced; nice and the OOM score are the kernel's own. */
function toEnforced({ meta, facts }: ProcessRecord): { limits_enforced?: NonNullable<ProcessInfo["limits_enforced"]> } {
  if (!meta.limits) return {};
  const asked = Object.keys(meta.limits).map((name) => {
    const isKernels = name === "nice" || name === "oom_score_adj";
    return [name, isKernels ? "kernel" : (facts.limits_enforced?.[name] ?? "none")] as const;
  });
  return { limits_enforced: Object.fromEntries(asked) };
}
