import { setTimeout as sleep } from "node:timers/promises";
import { Fault, type ProcessId, type WaitAnswer, type WaitFor } from "../contract/index.ts";
import type { Client } from "../sdk/index.ts";
import type { Output } from "./output.ts";
import { exitCodeOf } from "./state.ts";

/** One call lasts no longer than this: below every idle bound on the way, long enough to cost nothing. */
const CALL_MS = 240_000;
/** A daemon that restarts is back well before; longer means that it was shut down. */
const GONE_MS = 30_000;

export interface Waiting {
  for: WaitFor;
  cursor: number;
  /** Absent: without end. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Waits as long as it takes, in calls of bounded length, and through a restart of the daemon. */
export async function waitForCondition(client: Client, id: ProcessId, o: Waiting): Promise<WaitAnswer> {
  const deadline = o.timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + o.timeoutMs;
  const longest = CALL_MS + (o.for.idle_ms ?? 0);
  let goneSince: number | undefined;
  for (;;) {
    const left = Math.max(0, deadline - Date.now());
    try {
      const request = { for: o.for, cursor: o.cursor, timeout_ms: Math.min(left, longest) };
      const answer = await client.processes.wait(id, request, { signal: o.signal });
      goneSince = undefined;
      if (answer.fired !== "timeout" || Date.now() >= deadline) return answer;
    } catch (error) {
      if (!isGone(error)) throw error;
      goneSince ??= Date.now();
      if (Date.now() - goneSince > GONE_MS || Date.now() >= deadline) throw error;
      await sleep(100);
    }
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof Fault && (error.code === "client/unreachable" || error.code === "daemon/shutting-down");
}

/** The exit code of a process that has ended; when nobody knows it, the evidence goes to stderr. */
export async function reportEnd(client: Client, id: ProcessId, answer: WaitAnswer, output: Output): Promise<number> {
  const code = exitCodeOf(answer);
  if (answer.reason !== "lost" && answer.reason !== "not_observed") return code;
  const info = await client.processes.get(id);
  output.note(`drover: how ${id} ended is not known${info.evidence ? `: ${info.evidence}` : ""}`);
  return code;
}
