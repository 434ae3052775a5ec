import { setTimeout as sleep } from "node:timers/promises";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import type { Invoke } from "./invoke.ts";
import { measureLog } from "./resources.ts";

/** Least time between two notifications about one thing. */
const EVERY_MS = 1_000;
/** One wait for new output; then the next. */
const WAIT_MS = 60_000;
/** After a daemon went away. */
const AGAIN_MS = 1_000;
/** Each costs a wait in the daemon. */
const MOST_LOGS = 64;

/** Events after which the list of processes reads differently. */
const changing: readonly string[] = ["process.started", "process.exited", "process.lost", "process.removed", "gap"];

export interface ResourceListener {
  updated(uri: string): void;
  listChanged(): void;
}

/** What one connection wants to hear of: logs that grow, and the list of them. */
export class ResourceWatch {
  readonly #invoke: Invoke;
  readonly #listener: ResourceListener;
  readonly #logs = new Map<string, AbortController>();
  #list: AbortController | undefined;

  constructor(invoke: Invoke, listener: ResourceListener) {
    this.#invoke = invoke;
    this.#listener = listener;
  }

  /** Throws when the log is not there, or too many are watched. */
  async addLog(uri: string, signal: AbortSignal): Promise<void> {
    if (this.#logs.has(uri)) return;
    if (this.#logs.size >= MOST_LOGS) {
      throw new Fault("request/invalid", `At most ${MOST_LOGS} logs can be subscribed to; unsubscribe from some.`);
    }
    const { id, end } = await measureLog(this.#invoke, uri, signal);
    if (this.#logs.has(uri)) return;
    const stop = new AbortController();
    this.#logs.set(uri, stop);
    void this.#follow(uri, { id, end }, stop.signal);
  }

  removeLog(uri: string): void {
    this.#logs.get(uri)?.abort();
    this.#logs.delete(uri);
  }

  watchList(): void {
    if (this.#list) return;
    this.#list = new AbortController();
    void this.#followList(this.#list.signal);
  }

  close(): void {
    this.#list?.abort();
    for (const stop of this.#logs.values()) stop.abort();
    this.#logs.clear();
  }

  async #follow(uri: string, { id, end }: { id: string; end: number }, signal: AbortSignal): Promise<void> {
    let cursor = end;
    while (!signal.aborted) {
      try {
        const request = { id, for: { bytes: 1, exit: true }, cursor, timeout_ms: WAIT_MS };
        const { fired, running, cursor: next } = await this.#invoke.call("process.wait", request, { signal });
        if (fired !== "timeout") this.#listener.updated(uri);
        cursor = Math.max(cursor, next);
        if (!running) return this.removeLog(uri);
        await sleep(EVERY_MS, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Fault && error.code === "process/not-found") return this.removeLog(uri);
        ignore(error, "the daemon restarts; its processes and their logs are still there");
        await pause(AGAIN_MS, signal);
      }
    }
  }

  async #followList(signal: AbortSignal): Promise<void> {
    let due: NodeJS.Timeout | undefined;
    signal.addEventListener("abort", () => clearTimeout(due), { once: true });
    const change = () => {
      due ??= setTimeout(() => {
        due = undefined;
        this.#listener.listChanged();
      }, EVERY_MS);
    };
    while (!signal.aborted) {
      try {
        for await (const { type } of this.#invoke.events({ signal })) if (changing.includes(type)) change();
      } catch (error) {
        ignore(error, "the daemon is away or starting");
      }
      await pause(AGAIN_MS, signal);
      // What happened meanwhile is told as one change.
      if (!signal.aborted) change();
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => ignore(error, "told to stop"));
}
