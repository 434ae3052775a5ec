import { Worker } from "node:worker_threads";
import { type Clock, type Deferred, defer, ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import type { FoundLine, FoundMatch, LinesJob, MatchJob, PatternJob } from "./pattern.ts";

/** Threads at most: searches must not take the whole machine from the processes. */
const WORKERS = 2;
/** Searches that may wait for a thread. Waits do not count: each has one job at most. */
const QUEUE = 32;
/** One job has a slice of a megabyte or less; honest expressions take milliseconds. */
const DEADLINE_MS = 2_000;
/** A thread costs about ten megabytes; it goes when nobody searches. */
const IDLE_MS = 30_000;
/** What a thread may hold; one slice as text, its lines and the answer are far below. */
const MEMORY_MB = 192;

interface Waiting {
  job: PatternJob;
  answer: Deferred<unknown>;
}

/** What a thread tells: it can take a job; it is gone, with the reason when it never came up. */
interface Tell {
  free(): void;
  gone(why: unknown): void;
}

/** Runs patterns in threads that are made when needed, ended when idle, and killed when a pattern takes too long. */
export class PatternPool {
  readonly #clock: Clock;
  readonly #threads = new Set<PatternThread>();
  readonly #queue: Waiting[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Jobs that wait for a thread. */
  get queued(): number {
    return this.#queue.length;
  }

  match(job: MatchJob): Promise<FoundMatch | undefined> {
    return this.#run(job) as Promise<FoundMatch | undefined>;
  }

  lines(job: LinesJob): Promise<FoundLine[]> {
    if (this.#queue.length >= QUEUE) {
      return Promise.reject(new Fault("search/busy", "Too many searches run at once; try again."));
    }
    return this.#run(job) as Promise<FoundLine[]>;
  }

  async close(): Promise<void> {
    const closed = new Fault("daemon/shutting-down", "The daemon is about to end; processes keep running.");
    for (const { answer } of this.#queue.splice(0)) answer.reject(closed);
    await Promise.all([...this.#threads].map((thread) => thread.end(closed)));
  }

  #run(job: PatternJob): Promise<unknown> {
    const waiting: Waiting = { job, answer: defer() };
    this.#queue.push(waiting);
    this.#serve();
    return waiting.answer.promise;
  }

  #serve(): void {
    for (const thread of this.#threads) if (thread.isFree) this.#feed(thread);
    if (this.#queue.length === 0 || this.#threads.size >= WORKERS) return;
    const thread: PatternThread = new PatternThread(this.#clock, {
      free: () => this.#feed(thread),
      gone: (why) => {
        this.#threads.delete(thread);
        // One that never came up would fail again: nobody is left waiting for it.
        if (why !== undefined) for (const { answer } of this.#queue.splice(0)) answer.reject(why);
        this.#serve();
      },
    });
    this.#threads.add(thread);
  }

  #feed(thread: PatternThread): void {
    const next = this.#queue.shift();
    if (next) thread.run(next);
  }
}

class PatternThread {
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #tell: Tell;
  #isReady = false;
  #cameUp = false;
  #why: unknown;
  #current: Waiting | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, tell: Tell) {
    this.#clock = clock;
    this.#tell = tell;
    this.#worker = new Worker(workerFile(), { resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
    this.#worker.on("message", (message) => this.#hear(message));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => {
      this.#fail(new Error("the pattern thread ended"));
      tell.gone(this.#cameUp ? undefined : this.#why);
    });
  }

  get isFree(): boolean {
    return this.#isReady && !this.#current;
  }

  run(next: Waiting): void {
    this.#current = next;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(DEADLINE_MS, () => {
      const fault = new Fault("regex/too-slow", "The regular expression takes too long on this text; make it simpler.");
      this.end(fault).catch((error) => ignore(error, "a thread that cannot be ended cannot answer either"));
    });
    // The bytes are the job's own copy, so they can be handed over.
    const { buffer } = next.job.data;
    this.#worker.ref();
    this.#worker.postMessage(next.job, buffer instanceof ArrayBuffer ? [buffer] : []);
  }

  async end(why: Error): Promise<void> {
    this.#fail(why);
    await this.#worker.terminate();
  }

  #hear(message: unknown): void {
    const done = this.#current;
    this.#isReady = true;
    this.#cameUp = true;
    this.#current = undefined;
    this.#cancelTimer?.();
    this.#worker.unref();
    done?.answer.resolve(message);
    this.#cancelTimer = this.#clock.after(IDLE_MS, () => {
      this.end(new Error("idle")).catch((error) => ignore(error, "nobody waits for an idle thread"));
    });
    this.#tell.free();
  }

  #fail(why: unknown): void {
    this.#cancelTimer?.();
    this.#isReady = false;
    this.#why ??= why;
    const failed = this.#current;
    this.#current = undefined;
    failed?.answer.reject(toFault(why));
  }
}

/** Out of memory is one more way to take too much. */
function toFault(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return new Fault("regex/too-slow", "The regular expression takes too much memory on this text; make it simpler.", {
    cause: error,
  });
}

/** Node 20 runs no TypeScript in threads: from sources (tests), the built file is taken. */
function workerFile(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "../../dist/process/pattern-worker.js" : "./pattern-worker.js", import.meta.url);
}
