import { signalNumber } from "../base/index.ts";
import type { Tone } from "./output.ts";
import { EXIT_DROVER } from "./report.ts";

/** The end of a process as any answer tells it. */
export interface End {
  exit_code?: number | undefined;
  signal?: string | undefined;
  reason?: string | undefined;
}

export interface State extends End {
  state?: string | undefined;
  running: boolean;
  leftover_count?: number | undefined;
}

const reasons: Record<string, string> = {
  signalled_by_user: "",
  signalled: "",
  stopped: "stopped",
  timeout: "timed out",
  idle_timeout: "idle too long",
  oom: "out of memory",
  limit: "over its limit",
  crashed: "crashed",
  not_observed: "end not seen",
};

/** `running`, `exited 7`, `SIGKILL (stopped)`, `lost`, `exited 0 +2 left`. */
export function describeState(p: State): string {
  const left = !p.running && p.leftover_count ? ` +${p.leftover_count} left` : "";
  if (p.state === "lost") return p.running ? "lost, alive" : "lost";
  if (p.running) return p.state === "starting" ? "starting" : "running";
  return `${describeEnd(p)}${left}`;
}

export function describeEnd(end: End): string {
  const why = end.reason ? (reasons[end.reason] ?? end.reason) : "";
  const what = end.signal ?? (end.exit_code === undefined || end.exit_code < 0 ? "ended" : `exited ${end.exit_code}`);
  return why ? `${what} (${why})` : what;
}

export function stateTone(p: State): Tone | undefined {
  if (p.state === "lost") return "bad";
  if (p.running) return "good";
  if (p.leftover_count) return "warn";
  if (p.signal) return "warn";
  return p.exit_code === 0 ? "quiet" : "bad";
}

/** The process's own code; 128 + n when signal n ended it; 125 when nobody knows. */
export function exitCodeOf(end: End): number {
  if (end.signal) return 128 + (signalNumber(end.signal) ?? 0);
  return end.exit_code === undefined || end.exit_code < 0 ? EXIT_DROVER : end.exit_code;
}
