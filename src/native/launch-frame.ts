import { Fault, type Limits, type ProcessId } from "../contract/index.ts";
import { encodeFrame, type FieldIn } from "./frame.ts";
import { FRAME_MAX, frameTypes, fieldKeys as key, launchFlags } from "./protocol.ts";

/** Everything a shim must know to run one command. The environment is here and nowhere else. */
export interface LaunchSpec {
  id: ProcessId;
  /** Absolute; exists and holds `meta`. */
  runDir: string;
  cwd: string;
  execPath: string;
  argv: readonly string[];
  /** `NAME=VALUE` each. */
  env: readonly string[];
  tty: boolean;
  cols?: number;
  rows?: number;
  split: boolean;
  /** `closed`: a pipe that is closed after `stdinData`. */
  stdin: "null" | "closed" | "open";
  stdinData?: Uint8Array;
  logHead: number;
  logRing: number;
  logSegments?: boolean;
  timeoutMs?: number;
  idleMs?: number;
  graceMs: number;
  limits?: Limits;
  cgroup?: string;
  watch?: { pid: number; start: number };
}

/** The LAUNCH frame; Fault process/too-long when it is over FRAME_MAX. */
export function encodeLaunch(spec: LaunchSpec, tag = 0): Buffer {
  const fields: FieldIn[] = [
    [key.id, spec.id],
    [key.runDir, spec.runDir],
    [key.cwd, spec.cwd],
    [key.execPath, spec.execPath],
  ];
  let units = 0;
  for (const arg of spec.argv) {
    units += arg.length;
    fields.push([key.arg, arg]);
  }
  for (const entry of spec.env) {
    units += entry.length;
    fields.push([key.env, entry]);
  }
  addNumbers(fields, spec);
  if (spec.stdinData && spec.stdin !== "null") fields.push([key.stdinData, spec.stdinData]);
  if (spec.cgroup !== undefined) fields.push([key.cgroup, spec.cgroup]);
  if (units > FRAME_MAX) throw tooLong();
  try {
    return encodeFrame(frameTypes.launch, tag, fields);
  } catch (error) {
    throw error instanceof RangeError ? tooLong(error) : error;
  }
}

function addNumbers(fields: FieldIn[], spec: LaunchSpec): void {
  const limits = spec.limits ?? {};
  const numbers: [number, number | undefined][] = [
    [key.flags, flagsOf(spec)],
    [key.cols, spec.cols],
    [key.rows, spec.rows],
    [key.logHead, spec.logHead],
    [key.logRing, spec.logRing],
    [key.timeoutMs, spec.timeoutMs],
    [key.idleMs, spec.idleMs],
    [key.graceMs, spec.graceMs],
    [key.limitMemory, limits.memory_bytes],
    [key.limitPids, limits.pids],
    [key.cpuWeight, limits.cpu_weight],
    [key.nice, limits.nice],
    [key.oomScoreAdj, limits.oom_score_adj],
    [key.watchPid, spec.watch?.pid],
    [key.watchStart, spec.watch?.start],
  ];
  for (const [name, value] of numbers) if (value !== undefined) fields.push([name, value]);
}

function flagsOf(spec: LaunchSpec): number {
  let flags = 0;
  if (spec.tty) flags |= launchFlags.tty;
  if (spec.split) flags |= launchFlags.split;
  if (spec.stdin === "open") flags |= launchFlags.stdinOpen;
  if (spec.stdin === "closed" || (spec.stdin === "open" && spec.stdinData)) flags |= launchFlags.stdinData;
  if (spec.logSegments) flags |= launchFlags.logSegments;
  return flags;
}

function tooLong(cause?: unknown): Fault {
  return new Fault(
    "process/too-long",
    "Arguments, environment and stdin are too long together; pass large data through a file.",
    {
      cause,
    },
  );
}
