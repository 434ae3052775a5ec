// From a request to a running process. On the path: plan, one directory, one frame to the keeper, one hint back. No SQLite.
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { type Deferred, defer } from "../base/index.ts";
import { type Caller, type ChatId, Fault, type ProcessId, type StartRequest } from "../contract/index.ts";
import type { Hint, Keeper, LaunchSpec } from "../native/index.ts";
import { digestRequest, digestToken } from "./client-token.ts";
import type { Core } from "./core.ts";
import { EnvironmentHook, inheritedVariables } from "./environment.ts";
import { type LaunchPlan, planDirectory, planLaunch } from "./launch-plan.ts";
import { FileLookup, homeFromPasswd } from "./lookup.ts";
import { notYetStarted, ProcessRecord } from "./record.ts";
import { failedStart, startFault } from "./start-faults.ts";

/** A hint may be lost; then the state file is read this often. */
const POLL_MS = 100;
/** A keeper and a shim that say nothing for this long are given up. */
const GIVE_UP_MS = 30_000;

export interface Started {
  record: ProcessRecord;
  attached: boolean;
}

export interface LaunchesOptions {
  core: Core;
  keeper: Keeper;
  /** Secret of this home; digests of tokens are made with it. */
  key: Uint8Array;
  /** The daemon's own environment and directory. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Number of the newest start so far. */
  seq: number;
  cgroup?: string | undefined;
}

interface Pending {
  readonly record: ProcessRecord;
  /** Kept until the shim answers, because a keeper may die with it. */
  readonly spec: LaunchSpec;
  readonly settled: Deferred<void>;
  readonly givenUpAtMs: number;
  cancelPoll: () => void;
}

export class Launches {
  readonly #o: LaunchesOptions;
  readonly #core: Core;
  readonly #inherited: Readonly<Record<string, string>>;
  readonly #hook: EnvironmentHook;
  readonly #pending = new Map<ProcessId, Pending>();
  readonly #byToken = new Map<string, { request: string; started: Promise<Started> }>();
  readonly #home: string | undefined;
  readonly #lookup: FileLookup;
  #seq: number;

  constructor(o: LaunchesOptions) {
    this.#o = o;
    this.#core = o.core;
    this.#seq = o.seq;
    this.#home = o.env["HOME"] || homeFromPasswd();
    const { config, clock, log } = o.core;
    this.#lookup = new FileLookup(clock);
    this.#inherited = inheritedVariables(config, o.env);
    this.#hook = new EnvironmentHook({ config, own: this.#inherited, clock, log });
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** Runs the request, or answers with the process that the same request started before. */
  start(request: StartRequest, caller: Caller): Promise<Started> {
    if (request.client_token === undefined) return this.#launch(request, caller, undefined);
    const token = digestToken(this.#o.key, caller.chatId, request.client_token);
    const digest = digestRequest(this.#o.key, request);
    const underWay = this.#byToken.get(token);
    if (underWay) return attach(underWay.request === digest, underWay.started);
    const known = this.findByDigest(token, caller);
    if (known) return attach(known.meta.request_digest === digest, Promise.resolve({ record: known, attached: true }));
    const started = this.#launch(request, caller, { token, request: digest });
    this.#byToken.set(token, { request: digest, started });
    return started.finally(() => this.#byToken.delete(token));
  }

  /** The process that a client token of the caller's chat started. */
  findByToken(token: string, caller: Caller): ProcessRecord | undefined {
    return this.findByDigest(digestToken(this.#o.key, caller.chatId, token), caller);
  }

  findByDigest(digest: string, caller: Caller): ProcessRecord | undefined {
    this.#core.journal.flush();
    const row = this.#core.store.processes.byToken(caller.chatId, digest);
    return row && this.#core.register.lookUp(row.meta.id);
  }

  /** Starts watching a process that is already there. */
  async watch(plan: (id: ProcessId, seq: number, runDir: string) => LaunchPlan): Promise<ProcessRecord> {
    const id = randomUUID() as ProcessId;
    return this.#run(plan(id, ++this.#seq, this.#core.dirs.path(id)));
  }

  /** True when the hint was about a launch under way. */
  hear(hint: Hint): boolean {
    const pending = this.#pending.get(hint.id);
    if (!pending) return false;
    if (hint.kind !== "started") this.#lookAt(pending);
    else if (hint.errno !== 0) this.fail(hint.id, hint.errno, hint.stage);
    else {
      const { pid, start, shimPid, atMs } = hint;
      this.#core.apply(pending.record, { kind: "started", pid, pidStart: start, shimPid, atMs });
      this.#succeed(pending);
    }
    return true;
  }

  /** No shim came to be, or it could not start the command. */
  fail(id: ProcessId, errno: number, stage: number): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    const { meta } = pending.record;
    const exists = statSync(meta.exec_path, { throwIfNoEntry: false }) !== undefined;
    this.#abort(pending, startFault(meta, stage, errno, exists));
  }

  /** The keeper died: whoever has no claim is sent again. The claim lets one of two shims run at most. */
  relaunch(): void {
    for (const { record, spec } of this.#pending.values()) {
      if (this.#core.dirs.hasClaim(record.id) === undefined) this.#o.keeper.launch(spec);
    }
  }

  /** Resolves when what a chat is just launching has come to something. */
  async settled(chat: ChatId): Promise<void> {
    const own = [...this.#pending.values()].filter(({ record }) => record.meta.chat_id === chat);
    await Promise.allSettled(own.map(({ settled }) => settled.promise));
  }

  /** Answers everybody who still waits; the launches themselves are settled by the next daemon. */
  close(): void {
    for (const pending of this.#pending.values()) {
      pending.cancelPoll();
      pending.settled.reject(new Fault("daemon/shutting-down", "The daemon is about to end."));
    }
    this.#pending.clear();
  }

  async #launch(
    request: StartRequest,
    caller: Caller,
    digests: { token: string; request: string } | undefined,
  ): Promise<Started> {
    const { config, dirs, clock, machineId } = this.#core;
    this.#refuseOverload();
    const id = randomUUID() as ProcessId;
    const here = { cwd: this.#o.cwd, home: this.#home, path: this.#o.env["PATH"] };
    const directory = planDirectory({ request, config, here, lookup: this.#lookup });
    const base = [this.#inherited, config.env];
    if (this.#hook.configured) base.push(await this.#hook.ask(caller.chatId, directory));
    const plan = planLaunch(
      {
        request,
        caller,
        config,
        id,
        machineId,
        seq: ++this.#seq,
        nowMs: clock.now(),
        here,
        lookup: this.#lookup,
        runDir: dirs.path(id),
        digests,
      },
      directory,
      base,
    );
    return { record: await this.#run(plan), attached: false };
  }

  async #run(plan: LaunchPlan): Promise<ProcessRecord> {
    const { dirs, clock } = this.#core;
    const record = new ProcessRecord(plan.meta, notYetStarted(plan.meta));
    dirs.create(plan.meta);
    const pending: Pending = {
      record,
      spec: this.#withCgroup(plan.spec),
      settled: defer<void>(),
      givenUpAtMs: clock.now() + GIVE_UP_MS,
      cancelPoll: () => undefined,
    };
    this.#pending.set(record.id, pending);
    this.#poll(pending);
    try {
      this.#o.keeper.launch(pending.spec);
      // While the keeper forks there is time for what the next start needs.
      dirs.prepare();
    } catch (error) {
      this.#abort(pending, error);
    }
    await pending.settled.promise;
    return record;
  }

  /** Moving into a cgroup can take milliseconds (a lock of all threads), so only those with limits do it. */
  #withCgroup(spec: LaunchSpec): LaunchSpec {
    const { memory_bytes, pids, cpu_weight } = spec.limits ?? {};
    const isWanted = memory_bytes !== undefined || pids !== undefined || cpu_weight !== undefined;
    return this.#o.cgroup !== undefined && isWanted ? { ...spec, cgroup: this.#o.cgroup } : spec;
  }

  #refuseOverload(): void {
    const { register, config } = this.#core;
    if (register.live.size + this.#pending.size < config.max_running) return;
    let running = this.#pending.size;
    for (const record of register.live.values()) if (!record.ended) running++;
    if (running < config.max_running) return;
    throw new Fault(
      "daemon/overloaded",
      `${running} processes run, which is the bound; stop something or raise max_running.`,
    );
  }

  #poll(pending: Pending): void {
    pending.cancelPoll = this.#core.clock.after(POLL_MS, () => {
      this.#lookAt(pending);
      if (this.#pending.has(pending.record.id)) this.#poll(pending);
    });
  }

  /** The hint is late: the state file knows. */
  #lookAt(pending: Pending): void {
    const { record } = pending;
    const state = this.#core.readState(record);
    if (state && state.header.startErrno !== 0)
      return this.fail(record.id, state.header.startErrno, state.header.startStage);
    if (state && (state.header.leaderPid !== 0 || state.exit)) {
      this.#succeed(pending);
      return this.#core.examine(record);
    }
    if (this.#core.clock.now() >= pending.givenUpAtMs) this.#giveUp(pending);
  }

  /** A claim decides: either no shim will ever run it, or one has it and may still do so. */
  #giveUp(pending: Pending): void {
    const seconds = GIVE_UP_MS / 1000;
    if (this.#core.dirs.claimVoid(pending.record.id)) {
      return this.#abort(pending, failedStart(`no supervisor took it within ${seconds} s; nothing was started`));
    }
    this.#register(pending);
    pending.settled.reject(
      failedStart(`its supervisor did not report within ${seconds} s; see process ${pending.record.id}`),
    );
  }

  #succeed(pending: Pending): void {
    this.#register(pending);
    pending.settled.resolve();
  }

  #register(pending: Pending): void {
    this.#pending.delete(pending.record.id);
    pending.cancelPoll();
    this.#core.counters.started++;
    this.#core.register.add(pending.record);
    this.#core.journal.note(pending.record);
  }

  #abort(pending: Pending, error: unknown): void {
    this.#pending.delete(pending.record.id);
    pending.cancelPoll();
    this.#core.counters.failed++;
    try {
      this.#core.forget(pending.record);
    } catch (failure) {
      this.#core.log.warn("a run directory could not be removed", { processId: pending.record.id, error: failure });
    }
    pending.settled.reject(error);
  }
}

async function attach(isSame: boolean, started: Promise<Started>): Promise<Started> {
  if (!isSame)
    throw new Fault("process/token-conflict", "This client_token was used in this chat for another request.");
  return { record: (await started).record, attached: true };
}
