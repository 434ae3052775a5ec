// What the kernel knows about a process. Numbers come from /proc, so that the measured program needs no change.
import { readdirSync, readFileSync } from "node:fs";

/** Nanoseconds of CPU of all threads that live now. utime and stime count in ticks of 10 ms, which is too coarse here. */
export function cpuNs(pid) {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) total += Number(readThread(pid, thread).split(" ")[0]);
  return total;
}

/** Nanoseconds of CPU of the main thread, which in Node is the event loop. */
export const mainThreadNs = (pid) => Number(readThread(pid, pid).split(" ")[0]);

function readThread(pid, thread) {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
  } catch {
    return "0 0 0"; // the thread ended between the list and the read
  }
}

export const residentKb = (pid) => field(readFileSync(`/proc/${pid}/status`, "utf8"), "VmRSS");

/** Memory that would be free if this process were not there. */
export function privateKb(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return field(text, "Private_Clean") + field(text, "Private_Dirty");
}

/** Memory of the whole machine: what is available, and what the kernel keeps for processes (stacks, page tables, its objects). */
export function machineKb() {
  const text = readFileSync("/proc/meminfo", "utf8");
  const kernel = ["KernelStack", "PageTables", "SUnreclaim", "Percpu"].map((name) => field(text, name));
  return { available: field(text, "MemAvailable"), kernel: kernel.reduce((total, kb) => total + kb, 0) };
}

/** The parent's pid; the command's name may hold spaces and parentheses, so count from its end. */
export function parentOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
}

export function childrenOf(parent) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return parentOf(pid) === parent;
      } catch {
        return false; // ended while we looked
      }
    });
}

export function isAlive(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text[text.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false; // no such process
  }
}

function field(text, name) {
  const found = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text);
  if (!found) throw new Error(`no ${name} here`);
  return Number(found[1]);
}
