import { ignore } from "../base/index.ts";
import { LogFile, readStat, type ShimLook, type ShimStatus } from "../native/index.ts";
import type { Core } from "./core.ts";
import { settleSurvivors } from "./orphans.ts";
import type { ProcessRecord } from "./record.ts";

/** A shim answers at once; a frozen one must not hold whoever asks. */
const LOOK_MS = 1_000;

export type LookWhat = Parameters<import("../native/index.ts").ControlConnection["look"]>[0];

/** What can be seen of a process right now; parts are absent when nobody could look. */
export interface Inspection {
  status?: ShimStatus;
  look?: ShimLook;
}

/** Looks through the shim; without one, through /proc by proof of kinship. Never throws for a process that is not there. */
export async function inspect(core: Core, record: ProcessRecord, what: LookWhat): Promise<Inspection> {
  if (record.ended) return {};
  if (!record.facts.supervised) return { look: await lookAtSurvivors(core, record) };
  try {
    return await core.connections.use(record, (connection) => {
      const both = Promise.all([connection.status(), connection.look(what)]);
      const answer = both.then(([status, look]) => ({ status, look }));
      return Promise.race([answer, late(core)]);
    });
  } catch (error) {
    ignore(error, "it ended just now, or its supervisor is gone: the facts say which");
    core.examine(record);
    return {};
  }
}

async function lookAtSurvivors(core: Core, record: ProcessRecord): Promise<ShimLook> {
  const survivors = await settleSurvivors(core, record);
  const tree = survivors.flatMap(({ pid, start, command }) => {
    const stat = readStat(pid);
    return stat ? [{ pid, start, command, ppid: stat.ppid, session: stat.session, state: stat.state }] : [];
  });
  return { tree, ports: [] };
}

function late(core: Core): Promise<Inspection> {
  return new Promise((resolve) => {
    core.clock.after(LOOK_MS, () => resolve({}));
  });
}

export interface LogExtent {
  end: number;
  kept_bytes: number;
  dropped: [number, number][];
}

/** How much of the log there is, and what is gone from it. */
export function measureLog(core: Core, record: ProcessRecord): LogExtent {
  let log: LogFile | undefined;
  try {
    log = LogFile.open(core.dirs, record.id);
  } catch (error) {
    ignore(error, "the run directory is gone");
  }
  if (!log) return { end: record.facts.log_end, kept_bytes: 0, dropped: [] };
  try {
    const dropped = log.dropped();
    const end = Math.max(log.end(), record.facts.log_end);
    return { end, kept_bytes: dropped.reduce((kept, [from, to]) => kept - (to - from), end), dropped };
  } finally {
    log.close();
  }
}
