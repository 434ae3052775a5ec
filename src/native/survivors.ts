import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ignore } from "../base/index.ts";
import type { ProcessId } from "../contract/index.ts";
import { canAct, commandOf, type Identity, type ProcStat, readStat } from "./identity.ts";

/** A process that belonged to a shim which is gone, and how we know. */
export interface Survivor extends Identity {
  command: string;
  uid: number;
  proof: "leader" | "session" | "environment" | "pipe" | "descendant";
}

/** What is known of the tree that lost its shim. */
export interface SurvivorQuery {
  id: ProcessId;
  leader?: Identity;
  outInode?: number;
  errInode?: number;
  /** Pids that are never ours: the daemon, its keeper. */
  exclude: number[];
}

/** The event loop is never held longer than this by one scan. */
const SLICE_MS = 2;
const NAME = "DROVER_PROCESS_ID=";

/** Scans /proc in slices. Only processes that can still act, and only those with a proof. */
export async function findSurvivors(query: SurvivorQuery): Promise<Survivor[]> {
  const pause = slicer();
  const clues = cluesOf(query);
  const all = new Map<number, ProcStat>();
  const proven = new Map<number, Survivor["proof"]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 1) || clues.exclude.has(pid)) continue;
    const stat = readStat(pid);
    if (!stat || !canAct(stat)) continue;
    all.set(pid, stat);
    const proof = await proofOf(stat, clues, pause);
    if (proof) proven.set(pid, proof);
    await pause();
  }
  addDescendants(all, proven);
  return [...proven].flatMap(([pid, proof]) => toSurvivor(all.get(pid), proof));
}

interface Clues {
  variable: string;
  leader: Identity | undefined;
  session: number | undefined;
  pipes: Set<string>;
  exclude: Set<number>;
}

function cluesOf(query: SurvivorQuery): Clues {
  const atLeader = query.leader && readStat(query.leader.pid);
  // A pid that is still a session's number is not given out again, so a stranger there means that the session has ended.
  const isReused = atLeader !== undefined && atLeader.start !== query.leader?.start;
  return {
    variable: NAME + query.id,
    leader: query.leader,
    session: isReused ? undefined : query.leader?.pid,
    pipes: new Set([query.outInode, query.errInode].filter((inode) => inode).map((inode) => `pipe:[${inode}]`)),
    exclude: new Set([...query.exclude, process.pid]),
  };
}

async function proofOf(
  stat: ProcStat,
  clues: Clues,
  pause: () => Promise<void>,
): Promise<Survivor["proof"] | undefined> {
  if (clues.leader && stat.pid === clues.leader.pid) return stat.start === clues.leader.start ? "leader" : undefined;
  if (clues.leader && stat.start < clues.leader.start) return undefined;
  const mark = readMark(stat.pid);
  if (mark === clues.variable) return "environment";
  if (mark === undefined && stat.session === clues.session) return "session";
  return (await holdsPipe(stat.pid, clues.pipes, pause)) ? "pipe" : undefined;
}

/** Its DROVER_PROCESS_ID=…; undefined when it has none or may not be looked at. */
function readMark(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    return environment.split("\0").find((entry) => entry.startsWith(NAME));
  } catch (error) {
    ignore(error, "gone, or another user's");
    return undefined;
  }
}

async function holdsPipe(pid: number, pipes: Set<string>, pause: () => Promise<void>): Promise<boolean> {
  if (pipes.size === 0) return false;
  let names: string[];
  try {
    names = readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    ignore(error, "gone, or another user's");
    return false;
  }
  for (const [i, name] of names.entries()) {
    if (i % 256 === 255) await pause();
    try {
      if (pipes.has(readlinkSync(`/proc/${pid}/fd/${name}`))) return true;
    } catch (error) {
      ignore(error, "closed meanwhile");
    }
  }
  return false;
}

function addDescendants(all: Map<number, ProcStat>, proven: Map<number, Survivor["proof"]>): void {
  const children = new Map<number, number[]>();
  for (const { pid, ppid } of all.values()) children.set(ppid, [...(children.get(ppid) ?? []), pid]);
  const queue = [...proven.keys()];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (proven.has(child)) continue;
      proven.set(child, "descendant");
      queue.push(child);
    }
  }
}

/** The pid may have been given to somebody else during the scan: look once more. */
function toSurvivor(stat: ProcStat | undefined, proof: Survivor["proof"]): Survivor[] {
  if (!stat) return [];
  const command = commandOf(stat.pid);
  const uid = statSync(`/proc/${stat.pid}`, { throwIfNoEntry: false })?.uid;
  if (uid === undefined || readStat(stat.pid)?.start !== stat.start) return [];
  return [{ pid: stat.pid, start: stat.start, command, uid, proof }];
}

function slicer(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < SLICE_MS) return;
    await nextTurn();
    began = performance.now();
  };
}
