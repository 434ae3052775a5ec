// Processes whose shim was killed: found again by identity, session, pipe and environment, and ended by proven identity only.
import { setTimeout as sleep } from "node:timers/promises";
import { signalName } from "../base/index.ts";
import type { StopAnswer } from "../contract/index.ts";
import {
  findSurvivors,
  helperPaths,
  type StopStep,
  type Survivor,
  type SurvivorQuery,
  signalByIdentity,
} from "../native/index.ts";
import type { Core } from "./core.ts";
import type { ProcessRecord } from "./record.ts";

/** A forker may outrun one round; each round finds everything that was born since the last. */
const KILL_ROUNDS = 20;
const KILL_ROUND_MS = 50;
const POLL_MS = 25;

/** Descendants of a record that nobody supervises any more. */
export function searchSurvivors(core: Core, record: ProcessRecord): Promise<Survivor[]> {
  const { facts } = record;
  const header = core.readState(record)?.header;
  const query: SurvivorQuery = { id: record.id, exclude: [process.pid] };
  if (facts.pid !== undefined && facts.pid_start !== undefined)
    query.leader = { pid: facts.pid, start: facts.pid_start };
  if (header?.outInode) query.outInode = header.outInode;
  if (header?.errInode) query.errInode = header.errInode;
  return findSurvivors(query);
}

/** Counts what is left and notes the end when nothing is. */
export async function settleSurvivors(core: Core, record: ProcessRecord): Promise<Survivor[]> {
  const survivors = await searchSurvivors(core, record);
  if (record.ended) return survivors;
  core.examine(record);
  const others = survivors.filter((s) => s.proof !== "leader").length;
  if (others !== record.facts.leftover_count) core.apply(record, { kind: "counted", leftovers: others });
  if (survivors.length === 0 && !record.running) {
    core.apply(record, { kind: "ended", atMs: core.clock.now(), logEnd: core.logEnd(record) });
  }
  return survivors;
}

/** Signals everything that is left; answers how many were reached. */
export async function signalSurvivors(
  core: Core,
  record: ProcessRecord,
  signo: number,
  scope: "group" | "leader" | "tree",
): Promise<number> {
  const survivors = await searchSurvivors(core, record);
  const chosen = scope === "leader" ? survivors.filter((s) => s.proof === "leader") : survivors;
  if (chosen.length === 0) return 0;
  const results = await signalByIdentity(helperPaths.shim, signo, chosen);
  return results.filter((r) => r.errno === 0).length;
}

/** Ends what a lost shim left behind, step by step, and tells what it could not. */
export async function stopSurvivors(
  core: Core,
  record: ProcessRecord,
  steps: readonly StopStep[],
): Promise<StopAnswer> {
  const seen = new Map<string, { survivor: Survivor; by: number }>();
  for (const step of steps) {
    const isKill = step.signal === 9;
    for (let round = 0; round < (isKill ? KILL_ROUNDS : 1); round++) {
      const survivors = await searchSurvivors(core, record);
      if (survivors.length === 0) break;
      for (const survivor of survivors) seen.set(keyOf(survivor), { survivor, by: step.signal });
      await signalByIdentity(helperPaths.shim, step.signal, survivors);
      await untilGone(core, survivors, isKill ? KILL_ROUND_MS : step.waitMs);
    }
  }
  const left = await settleSurvivors(core, record);
  const leftKeys = new Set(left.map(keyOf));
  return {
    stopped: left.length === 0,
    ended: [...seen].filter(([key]) => !leftKeys.has(key)).map(([, { survivor, by }]) => ended(survivor, by)),
    left: left.map((s) => ({ pid: s.pid, command: s.command, why: whyLeft(s) })),
  };
}

function ended(survivor: Survivor, by: number): StopAnswer["ended"][number] {
  return { pid: survivor.pid, command: survivor.command, by: signalName(by) };
}

function whyLeft(survivor: Survivor): string {
  const own = process.getuid?.();
  if (own !== undefined && own !== 0 && survivor.uid !== own)
    return `it belongs to uid ${survivor.uid}, which we may not signal`;
  return "it did not end after SIGKILL (uninterruptible, or it forks faster than it is ended)";
}

function keyOf(who: { pid: number; start: number }): string {
  return `${who.pid}:${who.start}`;
}

async function untilGone(core: Core, who: readonly Survivor[], limitMs: number): Promise<void> {
  const until = core.clock.now() + limitMs;
  while (who.some((s) => core.here.isAlive(s)) && core.clock.now() < until) await sleep(POLL_MS);
}
