import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { type Deferred, defer, ignore, type Log } from "../base/index.ts";
import { Fault, type ProcessId } from "../contract/index.ts";
import { Fields, type Frame, FrameReader } from "./frame.ts";
import { encodeLaunch, type LaunchSpec } from "./launch-frame.ts";
import { FRAME_MAX, frameTypes, fieldKeys as key } from "./protocol.ts";

/** What a keeper needs; callbacks are called from the event loop. */
export interface KeeperOptions {
  path: string;
  log: Log;
  /** No shim came to be. */
  onFailed(id: ProcessId, errno: number, stage: number): void;
  /**
   * The keeper died unasked. Launches before this call may or may not have reached it: settle each by its claim. Launches after
   * it are kept for the next keeper.
   */
  onRestart?(): void;
}

const RESTART_FIRST_MS = 10;
const RESTART_MOST_MS = 5_000;
/** A keeper that lived this long was healthy: the next restart is quick again. */
const HEALTHY_MS = 10_000;
/** Launches that wait for the next keeper. */
const WAITING_BYTES = 2 * FRAME_MAX;
const READY_MS = 10_000;
const CLOSE_MS = 5_000;

/** The one process that forks shims, so that the event loop never blocks in `spawn`. Started again when it dies unasked. */
export class Keeper {
  readonly #options: KeeperOptions;
  #child: ChildProcess | undefined;
  #gone: Deferred<void> = defer();
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #pauseMs = RESTART_FIRST_MS;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Resolves when it reads; rejects with Fault native/missing when it cannot be run. */
  static async start(options: KeeperOptions): Promise<Keeper> {
    const keeper = new Keeper(options);
    try {
      await keeper.#spawn();
    } catch (cause) {
      keeper.#closed = true;
      clearTimeout(keeper.#timer);
      throw new Fault("native/missing", `${options.path} does not run; build it with \`make\`.`, { cause });
    }
    return keeper;
  }

  /** 0 between two keepers. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** One write; the answer comes as a hint. Throws Fault process/too-long when the frame is over FRAME_MAX. */
  launch(spec: LaunchSpec): void {
    const frame = encodeLaunch(spec);
    if (this.#closed)
      throw new Fault("daemon/shutting-down", "The daemon is about to end; nothing is started any more.");
    if (this.#child) {
      this.#child.stdin?.write(frame);
      return;
    }
    if (this.#waitingBytes + frame.length > WAITING_BYTES) {
      throw new Fault("process/start-failed", "The launcher is being restarted and too many starts wait; try again.");
    }
    this.#waiting.push(frame);
    this.#waitingBytes += frame.length;
  }

  /** Lets it serve what it has, then ends it. Shims go on. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (!child) return;
    const kill = setTimeout(() => child.kill("SIGKILL"), CLOSE_MS);
    setReferenced(child, true);
    child.stdin?.end();
    await this.#gone.promise;
    clearTimeout(kill);
  }

  async #spawn(): Promise<void> {
    // Commands get their environment in the frame; the keeper itself needs none.
    const child = spawn(this.#options.path, [], {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] },
    });
    const ready = defer<void>();
    this.#gone = defer();
    this.#listen(child, ready);
    const late = setTimeout(() => child.kill("SIGKILL"), READY_MS);
    try {
      await ready.promise;
    } finally {
      clearTimeout(late);
    }
    setReferenced(child, false);
    if (this.#closed) {
      child.stdin?.end();
      return;
    }
    this.#child = child;
    for (const frame of this.#waiting.splice(0)) child.stdin?.write(frame);
    this.#waitingBytes = 0;
  }

  #listen(child: ChildProcess, ready: Deferred<void>): void {
    const began = Date.now();
    const frames = new FrameReader();
    child.stdin?.on("error", (error) => ignore(error, "its end is seen by `exit`"));
    child.stdout?.on("data", (chunk: Buffer) => {
      try {
        for (const frame of frames.push(chunk)) this.#take(frame, ready);
      } catch (error) {
        this.#options.log.error("keeper sent garbage", { error });
        child.kill("SIGKILL");
      }
    });
    if (child.stderr) {
      createInterface({ input: child.stderr }).on("line", (line) =>
        this.#options.log.warn("keeper complained", { line }),
      );
    }
    const ended = (error: Error) => {
      ready.reject(error);
      if (Date.now() - began > HEALTHY_MS) this.#pauseMs = RESTART_FIRST_MS;
      this.#ended(child);
    };
    child.once("error", ended);
    child.once("exit", (code, signal) => ended(new Error(`keeper ended with ${signal ?? code}`)));
  }

  #take(frame: Frame, ready: Deferred<void>): void {
    if (frame.type === frameTypes.ready) ready.resolve();
    if (frame.type !== frameTypes.launchFailed) return;
    const fields = new Fields(frame.body);
    const id = fields.text(key.id) as ProcessId | undefined;
    if (id) this.#options.onFailed(id, fields.number(key.errno) ?? 0, fields.number(key.stage) ?? 0);
  }

  #ended(child: ChildProcess): void {
    const wasServing = this.#child === child;
    if (wasServing) this.#child = undefined;
    this.#gone.resolve();
    if (this.#closed || !wasServing) return;
    this.#options.log.error("keeper died, starting another", { pid: child.pid });
    this.#options.onRestart?.();
    this.#restart();
  }

  #restart(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#spawn().catch((error: unknown) => {
        this.#options.log.error("keeper does not start", { error });
        this.#restart();
      });
    }, this.#pauseMs);
    this.#timer.unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, RESTART_MOST_MS);
  }
}

/** A running keeper never keeps the daemon alive. */
function setReferenced(child: ChildProcess, on: boolean): void {
  const name = on ? "ref" : "unref";
  child[name]();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket | null)?.[name]();
}
