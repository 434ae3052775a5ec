import { lstatSync } from "node:fs";
import type { Clock, Log } from "../base/index.ts";
import type { Config, MachineId } from "../contract/index.ts";
import {
  type Hint,
  isAlive,
  type RunDirectories,
  type RunState,
  readBootId,
  readPidNamespace,
  startTimeOf,
} from "../native/index.ts";
import type { Store } from "../store/index.ts";
import { Connections } from "./connections.ts";
import { EventBus } from "./event-bus.ts";
import { judge, judgeWithoutShim, newDetails, type Surroundings } from "./examine.ts";
import { createEvent, Journal } from "./journal.ts";
import type { LifeEvent } from "./lifecycle.ts";
import type { ProcessRecord } from "./record.ts";
import { Register } from "./register.ts";

export interface CoreOptions {
  config: Config;
  store: Store;
  dirs: RunDirectories;
  machineId: MachineId;
  clock: Clock;
  log: Log;
}

/** What every part of supervision shares: the records, the truth on disk, and the one way from an event to its consequences. */
export class Core {
  readonly config: Config;
  readonly store: Store;
  readonly dirs: RunDirectories;
  readonly machineId: MachineId;
  readonly clock: Clock;
  readonly log: Log;
  readonly register: Register;
  readonly events: EventBus;
  readonly journal: Journal;
  readonly connections: Connections;
  readonly here: Surroundings;
  readonly counters = {
    started: 0,
    failed: 0,
    hints: 0,
    sweeps: 0,
    adopted: 0,
    lostSeen: 0,
    quarantined: 0,
    removed: 0,
  };
  /** Disk use of run directories, as last measured. */
  diskBytes = 0;
  /** Records whose descendants live, perhaps, without a supervisor. */
  readonly unsearched = new Set<ProcessRecord>();

  readonly #logEnds = new WeakMap<ProcessRecord, { end: number; atMs: number }>();

  constructor(o: CoreOptions) {
    this.config = o.config;
    this.store = o.store;
    this.dirs = o.dirs;
    this.machineId = o.machineId;
    this.clock = o.clock;
    this.log = o.log;
    this.register = new Register(o.store);
    this.events = new EventBus(o.store.events);
    this.journal = new Journal({
      store: o.store,
      events: this.events,
      clock: o.clock,
      log: o.log,
      complete: (record) => this.#complete(record),
      settled: (record) => this.#settle(record),
    });
    this.connections = new Connections(o.dirs, o.clock, (id) => {
      const record = this.register.live.get(id);
      if (record) this.examine(record);
    });
    this.here = { bootId: readBootId(), pidNs: readPidNamespace(), isAlive, nowMs: () => o.clock.now() };
  }

  /** The only way facts change. */
  apply(record: ProcessRecord, event: LifeEvent): void {
    for (const action of record.apply(event)) {
      switch (action) {
        case "save":
          this.#announceWarnings(record, event);
          this.journal.note(record);
          break;
        case "look":
          this.examine(record);
          break;
        case "search":
          this.unsearched.add(record);
          break;
        case "forget":
          this.forget(record);
          break;
      }
    }
  }

  /** A hint about a record: facts at once, details from the state file later. */
  hear(record: ProcessRecord, hint: Hint): void {
    if (hint.warnings.some((w) => !record.facts.warnings.includes(w))) {
      this.apply(record, { kind: "warned", warnings: hint.warnings });
    }
    if (hint.kind === "exited") {
      const { code, signal, reason, atMs, logEnd, children } = hint;
      this.apply(record, { kind: "exited", code, signal, reason, atMs, logEnd, children });
    }
    if (hint.kind === "ended") this.apply(record, { kind: "ended", atMs: hint.atMs, logEnd: hint.logEnd });
  }

  /** Compares a record with the truth on disk and in /proc. */
  examine(record: ProcessRecord): void {
    const state = this.readState(record);
    if (!state) return this.#examineBlind(record);
    const verdict = judge(record.facts, state, this.here);
    if (verdict === "elsewhere") return;
    // The shim may have written its last slot and ended between the reading and the question whether it lives.
    const final = verdict.some((e) => e.kind === "abandoned" || e.kind === "vanished")
      ? this.#judgeAgain(record)
      : verdict;
    for (const event of final) this.apply(record, event);
  }

  /** Undefined when there is no state file that can be read. */
  readState(record: ProcessRecord): RunState | undefined {
    try {
      return this.dirs.readState(record.id);
    } catch (error) {
      this.log.warn("a state file cannot be read", { processId: record.id, error });
      if (!record.facts.warnings.includes("state_unreadable")) {
        this.apply(record, { kind: "warned", warnings: ["state_unreadable"] });
      }
      return undefined;
    }
  }

  /** Leaves no trace of what never ran. */
  forget(record: ProcessRecord): void {
    this.release(record);
    this.dirs.remove(record.id);
  }

  /** Nothing in memory knows it any more. */
  release(record: ProcessRecord): void {
    this.journal.drop(record);
    this.register.forget(record.id);
    this.unsearched.delete(record);
    this.connections.drop(record.id);
  }

  /** How much output there is right now. */
  logEnd(record: ProcessRecord): number {
    if (record.ended) return record.facts.log_end;
    const size = lstatSync(`${this.dirs.path(record.id)}/log`, { throwIfNoEntry: false })?.size ?? 0;
    return Math.max(size, record.facts.log_end);
  }

  /** The same, at most a second old: a list of a thousand must not ask the file system a thousand times. */
  recentLogEnd(record: ProcessRecord): number {
    if (record.ended) return record.facts.log_end;
    const nowMs = this.clock.now();
    const seen = this.#logEnds.get(record);
    if (seen && nowMs - seen.atMs < RECENT_MS) return Math.max(seen.end, record.facts.log_end);
    const end = this.logEnd(record);
    this.#logEnds.set(record, { end, atMs: nowMs });
    return end;
  }

  #judgeAgain(record: ProcessRecord): LifeEvent[] {
    const state = this.readState(record);
    const verdict = state ? judge(record.facts, state, this.here) : [];
    return verdict === "elsewhere" ? [] : verdict;
  }

  /** Without a state file only identities are left: of the shim, then of the command. */
  #examineBlind(record: ProcessRecord): void {
    if (record.ended) return;
    const isGone = lstatSync(this.dirs.path(record.id), { throwIfNoEntry: false }) === undefined;
    if (isGone && !record.facts.warnings.includes("run_dir_gone")) {
      this.apply(record, { kind: "warned", warnings: ["run_dir_gone"] });
    }
    if (this.#mayShimLive(record)) return;
    const { facts } = record;
    const event = judgeWithoutShim(facts.shim_pid, { pid: facts.pid ?? 0, start: facts.pid_start ?? 0 }, this.here);
    const why = isGone ? "its run directory was deleted" : "its state file is not there";
    this.apply(record, { ...event, evidence: `${why}; ${event.evidence}` });
  }

  /** A shim older than its command that has the pid we were told is ours: its start time completes the identity. */
  #mayShimLive(record: ProcessRecord): boolean {
    const { shim_pid: pid, shim_start: known, pid_start: begun, started_at_ms: sinceMs } = record.facts;
    if (pid === undefined) return this.clock.now() - sinceMs < SILENT_MS;
    const start = known ?? startTimeOf(pid);
    if (start === undefined || (begun !== undefined && start > begun)) return false;
    if (known === undefined) this.apply(record, { kind: "described", details: { shimStart: start } });
    return this.here.isAlive({ pid, start });
  }

  #complete(record: ProcessRecord): void {
    const { facts } = record;
    if (facts.shim_start !== undefined && (record.running || facts.usage !== undefined)) return;
    const state = this.readState(record);
    const details = state && newDetails(facts, state);
    if (details) record.apply({ kind: "described", details });
  }

  #settle(record: ProcessRecord): void {
    if (!this.register.live.has(record.id)) return;
    this.register.settle(record);
    this.unsearched.delete(record);
    this.connections.drop(record.id);
    this.diskBytes += estimateDisk(record);
  }

  #announceWarnings(record: ProcessRecord, event: LifeEvent): void {
    if (event.kind === "abandoned" || event.kind === "vanished")
      this.counters.lostSeen += record.facts.state === "lost" ? 1 : 0;
    if (event.kind !== "warned") return;
    this.journal.announce(createEvent(record, "process.warned", this.clock.now(), { warnings: event.warnings }));
  }
}

const RECENT_MS = 1_000;
/** A launch nobody ever reported on. */
const SILENT_MS = 60_000;
/** Small files take a block each; asking the file system for every process that ends would cost more than it is worth. */
const SMALL_FILES_BYTES = 5 * 4_096;

/** Disk use of an ended record, without looking. */
export function estimateDisk({ meta, facts }: ProcessRecord): number {
  return SMALL_FILES_BYTES + Math.min(facts.log_end, meta.log_head + meta.log_ring);
}
