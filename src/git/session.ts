import { type Clock, defer } from "../base/index.ts";
import { composeMessages, type GitMessage } from "./message.ts";
import type { Repository, Snapshot } from "./repository.ts";

/** A message at least this often, as in the original; without a change it is a heartbeat. */
const HEARTBEAT_MS = 5_000;

/** The repositories that a session looks at; they may come and go. */
export interface View {
  readonly repositories: ReadonlyMap<string, Repository>;
  /** Looks for repositories anew. */
  refresh(): Promise<void>;
  /** Calls with what every scan found; returns the function that takes it back. */
  watch(listener: (snapshot: Snapshot) => void): () => void;
}

/**
 * One connection. Messages are pulled: the next one is made when the one before has been taken, from what is true then. A slow
 * reader misses states in between, never the last one, and holds nothing but references to what all others hold too.
 */
export class Session {
  readonly #openView: () => View;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #pending = new Map<string, Snapshot>();
  readonly #sent = new Map<string, Snapshot>();
  /** A refresh was asked for and must be answered, also when nothing changed. */
  #owes = false;
  #refreshing: Promise<void> | undefined;
  #again = false;
  #view: View | undefined;
  #scan = 0;
  #wake = (): void => undefined;

  constructor(openView: () => View, clock: Clock, signal: AbortSignal) {
    this.#openView = openView;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Subscribes before it reads, so that no notice is lost. The first message holds the full state. */
  async *messages(): AsyncGenerator<GitMessage, void, undefined> {
    if (this.#signal.aborted) return;
    const view = this.#openView();
    this.#view = view;
    const stop = view.watch((snapshot) => this.#note(snapshot));
    // At once: a reader that takes nothing any more would never get to `finally`.
    const onAbort = () => {
      stop();
      this.#wake();
    };
    this.#signal.addEventListener("abort", onAbort);
    try {
      await Promise.race([this.#readAll(view), aborted(this.#signal)]);
      let lastMs = this.#clock.now();
      while (!this.#signal.aborted) {
        const isDue = this.#clock.now() - lastMs >= HEARTBEAT_MS;
        if (isDue) lastMs = this.#clock.now();
        for (const message of this.#take(view, isDue)) {
          yield message;
          lastMs = this.#clock.now();
          if (this.#signal.aborted) return;
        }
        if (this.#pending.size === 0 && !this.#owes) await this.#sleep(lastMs + HEARTBEAT_MS - this.#clock.now());
      }
    } finally {
      stop();
      this.#signal.removeEventListener("abort", onAbort);
    }
  }

  /** Has everything read anew; a message follows in any case. However often it is called, one more waits at most. */
  async refresh(): Promise<void> {
    this.#again = true;
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  async #refresh(): Promise<void> {
    while (this.#again && this.#view && !this.#signal.aborted) {
      this.#again = false;
      await this.#view.refresh();
      await Promise.all([...this.#view.repositories.values()].map((repository) => repository.scan()));
      this.#owes = true;
      this.#wake();
    }
  }

  async #readAll(view: View): Promise<void> {
    await view.refresh();
    const repositories = [...view.repositories.values()];
    await Promise.all(repositories.map((repository) => repository.fresh()));
    for (const { snapshot } of repositories) if (snapshot) this.#pending.set(snapshot.entry.repo_root, snapshot);
  }

  #note(snapshot: Snapshot): void {
    this.#pending.set(snapshot.entry.repo_root, snapshot);
    this.#wake();
  }

  #take(view: View, isDue: boolean): GitMessage[] {
    const changed: Snapshot[] = [];
    for (const [root, snapshot] of this.#pending) {
      this.#scan = Math.max(this.#scan, snapshot.scan);
      if (snapshot === this.#sent.get(root)) continue;
      const isNew = !this.#sent.has(root);
      if (snapshot.entry.removed) this.#sent.delete(root);
      else this.#sent.set(root, snapshot);
      // Who never heard of it need not hear that it is gone.
      if (!snapshot.entry.removed || !isNew) changed.push(snapshot);
    }
    this.#pending.clear();
    const owes = this.#owes;
    this.#owes = false;
    if (changed.length === 0 && (view.repositories.size === 0 || !(isDue || owes))) return [];
    return composeMessages(this.#verifiedAtMs(view), changed, this.#scan);
  }

  /** What the message says was true at this time for every repository in sight. */
  #verifiedAtMs(view: View): number {
    const times = [...view.repositories.values()].map((r) => r.verifiedAtMs).filter((ms) => ms > 0);
    return times.length === 0 ? this.#clock.now() : Math.min(...times);
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#signal.aborted) return;
    const woken = defer<void>();
    this.#wake = () => woken.resolve();
    const cancel = this.#clock.after(Math.max(0, ms), () => woken.resolve());
    await woken.promise;
    this.#wake = () => undefined;
    cancel();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
