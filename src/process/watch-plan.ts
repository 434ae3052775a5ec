import { type Caller, Fault, type ProcessId, type ProcessMeta } from "../contract/index.ts";
import { commandOf, startTimeOf } from "../native/index.ts";
import type { Core } from "./core.ts";
import type { LaunchPlan } from "./launch-plan.ts";

/** A watched process writes nothing to us; the log stays empty. */
const LOG_BYTES = 65_536;

/** How a process that is already there comes under watch: its identity is taken now, and the shim proves it again. */
export function planWatch(
  core: Core,
  pid: number,
  label: string | undefined,
  caller: Caller,
): (id: ProcessId, seq: number, runDir: string) => LaunchPlan {
  if (pid === process.pid) throw new Fault("request/invalid", "This is the daemon itself; it cannot watch itself.");
  const start = startTimeOf(pid);
  if (start === undefined) throw new Fault("process/not-found", `No process has the pid ${pid}.`);
  const command = commandOf(pid) || `pid ${pid}`;
  return (id, seq, runDir) => {
    const meta: ProcessMeta = {
      layout: 1,
      id,
      machine_id: core.machineId,
      seq,
      command,
      argv: [command],
      exec_path: "/",
      workdir: "/",
      background: true,
      ...(label !== undefined && { label }),
      ...(caller.chatId !== undefined && { chat_id: caller.chatId }),
      ...(caller.ancestorChatIds.length > 0 && { ancestor_chat_ids: [...caller.ancestorChatIds] }),
      tty: false,
      streams: "merged",
      stdin: "null",
      log_head: LOG_BYTES,
      log_ring: LOG_BYTES,
      stop_grace_ms: core.config.stop_grace_ms,
      on_chat_end: "keep",
      request_id: caller.requestId,
      watch_pid: pid,
      watch_start: start,
      created_at_ms: core.clock.now(),
    };
    const { exec_path: execPath, argv, log_head: logHead, log_ring: logRing, stop_grace_ms: graceMs } = meta;
    const plain = { id, runDir, cwd: "/", execPath, argv, env: [], tty: false, split: false, stdin: "null" } as const;
    return { meta, spec: { ...plain, logHead, logRing, graceMs, watch: { pid, start } } };
  };
}
