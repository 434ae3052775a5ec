import type { ChatId, MachineId, ProcessId } from "./ids.ts";
import type { EndReason, Limits, ProcessState, Usage } from "./wire.ts";

/**
 * What was asked for: the `meta` file of a run directory, written once before the launch. Holds no environment value.
 * With the state file it is enough to rebuild a lost database.
 */
export interface ProcessMeta {
  layout: 1;
  id: ProcessId;
  machine_id: MachineId;
  /** Order of starts in this home. */
  seq: number;
  /** What people see: the shell text, or argv joined by blanks. */
  command: string;
  argv: string[];
  exec_path: string;
  shell?: string;
  workdir: string;
  background: boolean;
  label?: string;
  chat_id?: ChatId;
  ancestor_chat_ids?: ChatId[];
  tty: boolean;
  cols?: number;
  rows?: number;
  streams: "merged" | "split" | "tty";
  stdin: "null" | "closed" | "open";
  log_head: number;
  log_ring: number;
  timeout_ms?: number;
  idle_timeout_ms?: number;
  stop_grace_ms: number;
  on_chat_end: "keep" | "stop";
  limits?: Limits;
  /** Keyed digests: the token within its chat, and the whole request. */
  client_token_digest?: string;
  request_digest?: string;
  traceparent?: string;
  request_id?: string;
  /** Set for a process that was there before (`POST /processes/adopt`). */
  watch_pid?: number;
  watch_start?: number;
  created_at_ms: number;
}

/** What was observed, never guessed. Absent means not known. */
export interface ProcessFacts {
  state: ProcessState;
  pid?: number;
  /** Clock ticks since boot; with pid and boot id, the command's identity. */
  pid_start?: number;
  shim_pid?: number;
  shim_start?: number;
  started_at_ms: number;
  /** -1 when a signal ended it or the code cannot be known. */
  exit_code?: number;
  signal?: string;
  reason?: EndReason;
  exited_at_ms?: number;
  /** No descendant is left and nobody can write any more. */
  ended_at_ms?: number;
  /** Descendants alive after the command ended. */
  leftover_count: number;
  log_end: number;
  warnings: string[];
  evidence?: string;
  /** False when the shim is gone. */
  supervised: boolean;
  usage?: Usage;
  /** How each limit is enforced. */
  limits_enforced?: Record<string, "cgroup" | "watched" | "kernel" | "none">;
}
