// After any restart: every run directory is compared with its row. The directory is the truth; the database is its index.
import { uptime } from "node:os";
import { setTimeout as sleep, setImmediate as yieldToOthers } from "node:timers/promises";
import { ignore } from "../base/index.ts";
import type { ProcessId } from "../contract/index.ts";
import type { StoredProcess } from "../store/index.ts";
import type { Core } from "./core.ts";
import { judgeWithoutShim } from "./examine.ts";
import { notYetStarted, ProcessRecord } from "./record.ts";

/** Records between two yields: requests are answered soon after the socket is there. */
const SLICE = 100;
/** A shim that has claimed writes its state at once; on a loaded machine, a little later. */
const STATE_WAIT_MS = 2_000;
const STATE_POLL_MS = 20;
/** The wall clock may have been set since the boot. */
const BOOT_SLACK_MS = 60_000;

/** Finds everything that an earlier daemon started; answers the highest number of a start. */
export async function adoptAll(core: Core): Promise<number> {
  const rows = new Map(core.store.processes.open().map((row) => [row.meta.id, row]));
  const known = core.store.processes.ids();
  const late: ProcessId[] = [];
  let seq = core.store.processes.maxSeq();
  let count = 0;
  for (const id of core.dirs.list()) {
    if (++count % SLICE === 0) await yieldToOthers();
    const row = rows.get(id);
    if (!row && known.has(id)) continue;
    rows.delete(id);
    if (core.register.live.has(id)) continue;
    const record = open(core, id, row, late);
    if (!record) continue;
    seq = Math.max(seq, record.meta.seq);
    await takeOver(core, record);
  }
  for (const id of late) await settleLate(core, id);
  for (const row of rows.values()) adoptWithoutDirectory(core, row);
  for (const record of core.register.live.values()) if (record.running) core.counters.adopted++;
  return seq;
}

/** Undefined: it never ran, it cannot be read, or its shim has only just claimed it. */
function open(core: Core, id: ProcessId, row: StoredProcess | undefined, late: ProcessId[]): ProcessRecord | undefined {
  try {
    if (core.dirs.readState(id) === undefined) {
      if (core.dirs.hasClaim(id) === "started" && !row) late.push(id);
      else if (!row && core.dirs.claimVoid(id)) core.dirs.remove(id);
      else if (!row) late.push(id);
      else return toRecord(core, id, row);
      return undefined;
    }
    return toRecord(core, id, row);
  } catch (error) {
    quarantine(core, id, error);
    return row && withoutDirectory(core, row, "its run directory could not be read and was put into quarantine");
  }
}

function toRecord(core: Core, id: ProcessId, row: StoredProcess | undefined): ProcessRecord {
  if (row) return new ProcessRecord(row.meta, row.facts, row.announced);
  const meta = core.dirs.readMeta(id);
  return new ProcessRecord(meta, notYetStarted(meta));
}

async function takeOver(core: Core, record: ProcessRecord): Promise<void> {
  const state = core.readState(record);
  if (state && state.header.startErrno !== 0 && record.announced === 0) return core.dirs.remove(record.id);
  core.register.add(record);
  core.examine(record);
  const isElsewhere = state && state.header.pidNs !== core.here.pidNs && state.header.bootId === core.here.bootId;
  if (isElsewhere && !record.ended) await reachElsewhere(core, record);
  core.journal.note(record);
}

/** Its pids mean nothing here, but its socket does. */
async function reachElsewhere(core: Core, record: ProcessRecord): Promise<void> {
  const state = core.readState(record);
  if (!state) return;
  const { leaderPid: pid, leaderStart: pidStart, shimPid, shimStart, startedAtMs: atMs } = state.header;
  core.apply(record, { kind: "started", pid, pidStart, shimPid, shimStart, atMs });
  try {
    await core.connections.use(record, (connection) => connection.status());
  } catch (error) {
    ignore(error, "nobody answers");
    const evidence = "it was started in another pid namespace, and its supervisor does not answer";
    if (!record.ended) core.apply(record, { kind: "vanished", evidence, atMs: core.clock.now() });
  }
}

/** Claimed without a state: the command runs only after the state was written, so a shim that never wrote it ran nothing. */
async function settleLate(core: Core, id: ProcessId): Promise<void> {
  const until = core.clock.now() + STATE_WAIT_MS;
  try {
    while (core.dirs.readState(id) === undefined) {
      if (core.clock.now() > until) return core.dirs.remove(id);
      await sleep(STATE_POLL_MS);
    }
    await takeOver(core, toRecord(core, id, undefined));
  } catch (error) {
    quarantine(core, id, error);
  }
}

function adoptWithoutDirectory(core: Core, row: StoredProcess): void {
  if (core.register.live.has(row.meta.id)) return;
  withoutDirectory(core, row, "its run directory is gone");
}

/** Only the identities in the row are left to ask for; they mean nothing after a boot. */
function withoutDirectory(core: Core, row: StoredProcess, why: string): undefined {
  const record = new ProcessRecord(row.meta, row.facts, row.announced);
  const { facts } = record;
  const atMs = core.clock.now();
  core.register.add(record);
  if (facts.started_at_ms < atMs - uptime() * 1000 - BOOT_SLACK_MS) {
    core.apply(record, { kind: "vanished", evidence: `${why}; the machine restarted since`, atMs });
    core.apply(record, { kind: "ended", atMs });
  } else {
    const verdict = judgeWithoutShim(facts.shim_pid, { pid: facts.pid ?? 0, start: facts.pid_start ?? 0 }, core.here);
    core.apply(record, { ...verdict, evidence: `${why}; ${verdict.evidence}` });
  }
  core.journal.note(record);
  return undefined;
}

function quarantine(core: Core, id: ProcessId, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  core.log.error("a run directory cannot be read and goes into quarantine", { processId: id, why });
  core.counters.quarantined++;
  try {
    core.dirs.quarantine(id, why);
  } catch (failure) {
    core.log.error("quarantine failed", { processId: id, error: failure });
  }
}
