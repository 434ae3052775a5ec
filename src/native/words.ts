import type { Activity, EndReason } from "../contract/index.ts";

// The enums of protocol.h as words; the position in a list is the number, or the bit.

const reasons: readonly (EndReason | undefined)[] = [
  undefined,
  "signalled_by_user",
  "stopped",
  "timeout",
  "idle_timeout",
  "oom",
  "limit",
  "crashed",
  "signalled",
  "not_observed",
];
const warningBits = ["disk_full", "run_dir_gone", "segments", "state_failed", "index_failed"];
const phases = ["starting", "running", "exited", "ended"] as const;
const stdinStates = ["null", "open", "closed"] as const;
const activities: readonly Activity[] = [
  "unknown",
  "busy",
  "sleeping",
  "listening",
  "waiting_line",
  "waiting_secret",
  "waiting_keys",
  "stopped",
];

/** How far a shim is; `ended`: exited, and no descendant is left. */
export type ShimPhase = (typeof phases)[number];
export type StdinState = (typeof stdinStates)[number];

/** How each limit is enforced, by the limit's wire name. */
export type Enforced = Record<string, "cgroup" | "watched">;

export function toReason(number: number): EndReason | undefined {
  return reasons[number];
}

export function fromReason(reason: EndReason): number {
  return Math.max(0, reasons.indexOf(reason));
}

/** A bit of a newer shim is kept as `warning_N`, never dropped in silence. */
export function toWarnings(bits: number): string[] {
  const found: string[] = [];
  for (let bit = 0; bits >>> bit > 0 && bit < 32; bit++) {
    if ((bits >>> bit) & 1) found.push(warningBits[bit] ?? `warning_${bit}`);
  }
  return found;
}

export function toPhase(number: number): ShimPhase {
  return phases[number] ?? "running";
}

export function toStdinState(number: number): StdinState {
  return stdinStates[number] ?? "closed";
}

export function toActivity(number: number): Activity {
  return activities[number] ?? "unknown";
}

export function toEnforced(bits: number): Enforced {
  const found: Enforced = {};
  if (bits & 2) found["memory_bytes"] = "watched";
  if (bits & 1) found["memory_bytes"] = "cgroup";
  if (bits & 8) found["pids"] = "watched";
  if (bits & 4) found["pids"] = "cgroup";
  if (bits & 16) found["cpu_weight"] = "cgroup";
  return found;
}
