import { randomUUID } from "node:crypto";
import type { MachineId, ProcessId, ProcessMeta } from "../../../src/contract/index.ts";

/** A complete meta, with a new id. */
export function metaOf(change: Partial<ProcessMeta> = {}): ProcessMeta {
  return {
    layout: 1,
    id: randomUUID() as ProcessId,
    machine_id: randomUUID() as MachineId,
    seq: 1,
    command: "true",
    argv: ["sh", "-c", "true"],
    exec_path: "/bin/sh",
    workdir: "/",
    background: false,
    tty: false,
    streams: "merged",
    stdin: "null",
    log_head: 65_536,
    log_ring: 65_536,
    stop_grace_ms: 1000,
    on_chat_end: "keep",
    created_at_ms: Date.now(),
    ...change,
  };
}
