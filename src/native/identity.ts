import { readdirSync, readFileSync, statSync } from "node:fs";
import { ignore } from "../base/index.ts";

/** A pid alone is not an identity: with its start time (clock ticks since boot) it is, until the next boot. */
export interface Identity {
  pid: number;
  start: number;
}

/** One process as /proc/PID/stat shows it. */
export interface ProcStat extends Identity {
  state: string;
  ppid: number;
  session: number;
}

/** Changes with every boot of the kernel. */
export function readBootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
}

/** Inode of the pid namespace: pids of another one mean other processes. */
export function readPidNamespace(): number {
  return statSync("/proc/self/ns/pid").ino;
}

/** Undefined when there is no such process. */
export function readStat(pid: number): ProcStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch (error) {
    ignore(error, "it is gone");
    return undefined;
  }
  // The name in parentheses may hold anything, so count from the last one (proc_pid_stat(5)).
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    state: fields[0] ?? "X",
    ppid: Number(fields[1]),
    session: Number(fields[3]),
    start: Number(fields[19]),
  };
}

/** It is this very process and can still act. */
export function isAlive(who: Identity): boolean {
  const stat = readStat(who.pid);
  return stat !== undefined && stat.start === who.start && canAct(stat);
}

/** A zombie cannot; but the kernel also says Z when only the main thread has ended. */
export function canAct(stat: ProcStat): boolean {
  if (stat.state === "X") return false;
  if (stat.state !== "Z") return true;
  try {
    return readdirSync(`/proc/${stat.pid}/task`).length > 1;
  } catch (error) {
    ignore(error, "it is gone");
    return false;
  }
}

export function startTimeOf(pid: number): number | undefined {
  return readStat(pid)?.start;
}

/** The command line with blanks between words; the name in [] when it has none; empty when it is gone. */
export function commandOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    if (words.at(-1) === "") words.pop();
    const text = words.join(" ").slice(0, 4096);
    return text || `[${readFileSync(`/proc/${pid}/comm`, "utf8").trimEnd()}]`;
  } catch (error) {
    ignore(error, "it is gone");
    return "";
  }
}
