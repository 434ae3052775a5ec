import { type Clock, type Log, systemClock } from "../base/index.ts";
import {
  type Caller,
  type ChatEnded,
  type ChatId,
  type Config,
  type EventType,
  Fault,
  type MachineId,
  type StartRequest,
  type StopAnswer,
  toProcessId,
} from "../contract/index.ts";
import {
  type ControlConnection,
  type Hint,
  HintReader,
  helperPaths,
  Keeper,
  RunDirectories,
  type StopStep,
} from "../native/index.ts";
import type { Store } from "../store/index.ts";
import { adoptAll } from "./adopt.ts";
import { endChat } from "./chat-end.ts";
import type { HeldConnection } from "./connections.ts";
import { Core } from "./core.ts";
import type { EventBus } from "./event-bus.ts";
import { type Inspection, inspect, type LogExtent, type LookWhat, measureLog } from "./inspect.ts";
import { Launches, type Started } from "./launches.ts";
import { type ListPage, type ListQuery, listRecords } from "./list.ts";
import type { ProcessRecord } from "./record.ts";
import { Retention, removeRecord } from "./retention.ts";
import { closePatterns } from "./search.ts";
import { Stops } from "./stop.ts";
import { Sweep } from "./sweep.ts";
import type { Right } from "./visibility.ts";
import { planWatch } from "./watch-plan.ts";

export interface SupervisorOptions {
  home: string;
  config: Config;
  store: Store;
  machineId: MachineId;
  /** Secret of this home, for digests of client tokens. */
  key: Uint8Array;
  /** The daemon's environment and directory: what processes start from. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  log: Log;
  clock?: Clock;
  /** A writable cgroup v2 directory, where there is one. */
  cgroup?: string | undefined;
}

/** The heart: starts processes, knows what became of them, ends them. Closing it leaves them running. */
export class Supervisor {
  readonly #core: Core;
  readonly #hints: HintReader;
  readonly #keeper: Keeper;
  readonly #launches: Launches;
  readonly #stops: Stops;
  readonly #sweep: Sweep;
  readonly #retention: Retention;
  #closing = false;

  /** The FIFO is opened before the directories are listed: what happens between is then heard. */
  static async open(options: SupervisorOptions): Promise<Supervisor> {
    const dirs = RunDirectories.open(options.home);
    const core = new Core({ ...options, dirs, clock: options.clock ?? systemClock });
    let launches: Launches | undefined;
    let keeper: Keeper | undefined;
    const hints = HintReader.open(options.home, (hint) => hear(core, launches, hint));
    try {
      keeper = await Keeper.start({
        path: helperPaths.keeper,
        log: options.log,
        onFailed: (id, errno, stage) => launches?.fail(id, errno, stage),
        onRestart: () => launches?.relaunch(),
      });
      const seq = await adoptAll(core);
      core.journal.flush();
      launches = new Launches({ ...options, core, keeper, seq });
      return new Supervisor({ core, hints, keeper, launches });
    } catch (error) {
      await keeper?.close();
      hints.close();
      dirs.close();
      throw error;
    }
  }

  private constructor(o: { core: Core; hints: HintReader; keeper: Keeper; launches: Launches }) {
    this.#core = o.core;
    this.#hints = o.hints;
    this.#keeper = o.keeper;
    this.#launches = o.launches;
    this.#stops = new Stops(o.core);
    this.#sweep = new Sweep(o.core);
    this.#retention = new Retention(o.core);
  }

  get dirs(): RunDirectories {
    return this.#core.dirs;
  }

  get events(): EventBus {
    return this.#core.events;
  }

  get log(): Log {
    return this.#core.log;
  }

  get clock(): Clock {
    return this.#core.clock;
  }

  /** Counted since the daemon started, and what is true now. */
  get counts() {
    const { counters, register, connections, diskBytes } = this.#core;
    this.#core.journal.flush();
    return {
      ...register.counts(),
      ...counters,
      logBytes: diskBytes,
      connections: connections.open,
      starting: this.#launches.pending,
    };
  }

  async start(request: StartRequest, caller: Caller): Promise<Started> {
    this.#refuseWhenClosing();
    return this.#launches.start(request, caller);
  }

  /** Brings a process that is already there under watch: signals and its end only. */
  async adopt(pid: number, label: string | undefined, caller: Caller): Promise<ProcessRecord> {
    this.#refuseWhenClosing();
    return this.#launches.watch(planWatch(this.#core, pid, label, caller));
  }

  find(id: string, caller: Caller): ProcessRecord | undefined {
    return this.#core.register.find(id, caller);
  }

  /** Fault process/not-found, also for a process of another chat; auth/… for one that may be seen and not be touched so. */
  get(id: string, caller: Caller, right: Right = "read"): ProcessRecord {
    return this.#core.register.get(id, caller, right);
  }

  /** What is not over yet, whoever's it is: for the daemon itself. */
  live(): ProcessRecord[] {
    return [...this.#core.register.live.values()].filter((record) => !record.ended);
  }

  /** One that is not over yet, or whose end is just being told. */
  findLive(id: string | undefined): ProcessRecord | undefined {
    const processId = id === undefined ? undefined : toProcessId(id);
    return processId && this.#core.register.live.get(processId);
  }

  list(query: ListQuery, caller: Caller): ListPage {
    return listRecords(this.#core, query, caller);
  }

  /** The process that a client token of the caller's chat started. */
  byToken(token: string, caller: Caller): ProcessRecord | undefined {
    return this.#launches.findByToken(token, caller);
  }

  signal(record: ProcessRecord, signo: number, scope: "group" | "leader" | "tree"): Promise<number> {
    return this.#stops.signal(record, signo, scope);
  }

  stop(record: ProcessRecord, steps?: readonly StopStep[]): Promise<StopAnswer> {
    return this.#stops.stop(record, steps);
  }

  /** Stops it, then forgets it and its log. */
  async remove(record: ProcessRecord): Promise<StopAnswer> {
    const answer = await this.#stops.stop(record);
    this.#core.journal.flush();
    await removeRecord(this.#core, record);
    this.#core.journal.flush();
    return answer;
  }

  /** Applies `on_chat_end` to the processes of a chat; launches under way are waited for. */
  async endChat(chat: ChatId): Promise<ChatEnded> {
    await this.#launches.settled(chat);
    return endChat(this.#core, this.#stops, chat);
  }

  /** The shared connection for a request that is answered at once; it may be closed after five idle seconds. */
  async connection(record: ProcessRecord): Promise<ControlConnection> {
    const held = await this.#core.connections.hold(record);
    held.release();
    return held.connection;
  }

  /** The shared connection, open until it is released: for those who follow. */
  hold(record: ProcessRecord): Promise<HeldConnection> {
    return this.#core.connections.hold(record);
  }

  /** One request over the shared connection, however long it takes. */
  use<T>(record: ProcessRecord, work: (connection: ControlConnection) => Promise<T>): Promise<T> {
    return this.#core.connections.use(record, work);
  }

  /** Compares a record with the truth on disk, now. */
  refresh(record: ProcessRecord): void {
    if (!record.ended || record.facts.usage === undefined) this.#core.examine(record);
  }

  /** Bytes of output so far. */
  logEnd(record: ProcessRecord): number {
    return this.#core.logEnd(record);
  }

  /** Bytes of output as of a second ago at most; for lists. */
  recentLogEnd(record: ProcessRecord): number {
    return this.#core.recentLogEnd(record);
  }

  /** What can be seen of it right now; bounded to a second. */
  inspect(record: ProcessRecord, what: LookWhat): Promise<Inspection> {
    return inspect(this.#core, record, what);
  }

  /** How much of the log there is, and what is gone from it. */
  measureLog(record: ProcessRecord): LogExtent {
    return measureLog(this.#core, record);
  }

  /** An event of the daemon itself. */
  announce(type: EventType, data: Record<string, unknown>): void {
    const { journal, machineId, clock } = this.#core;
    journal.announce({ type, at: new Date(clock.now()).toISOString(), machine_id: machineId, data });
  }

  /** Stops everything that runs or has left something behind; answers how many. */
  async stopAll(): Promise<number> {
    this.#closing = true;
    const records = [...this.#core.register.live.values()].filter((r) => !r.ended);
    const results = await Promise.allSettled(records.map((record) => this.#stops.stop(record)));
    for (const result of results) {
      if (result.status === "rejected")
        this.#core.log.error("a process could not be stopped", { error: result.reason });
    }
    return results.filter((r) => r.status === "fulfilled").length;
  }

  /** Processes keep running; the next daemon finds them. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([this.#sweep.close(), this.#retention.close()]);
    await this.#keeper.close();
    this.#launches.close();
    this.#hints.close();
    this.#core.connections.close();
    await closePatterns(this);
    this.#core.journal.close();
    this.#core.dirs.close();
  }

  #refuseWhenClosing(): void {
    if (this.#closing)
      throw new Fault("daemon/shutting-down", "The daemon is about to end; nothing is started any more.");
  }
}

function hear(core: Core, launches: Launches | undefined, hint: Hint): void {
  core.counters.hints++;
  try {
    if (launches?.hear(hint)) return;
    const record = core.register.live.get(hint.id);
    if (record) core.hear(record, hint);
  } catch (error) {
    core.log.error("a hint could not be used", { processId: hint.id, error });
  }
}
