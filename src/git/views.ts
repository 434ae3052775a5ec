import type { Clock, Log } from "../base/index.ts";
import type { ChatId } from "../contract/index.ts";
import { placesOf } from "./find-repository.ts";
import type { Registry } from "./registry.ts";
import type { Repository, Snapshot } from "./repository.ts";
import type { View } from "./session.ts";

/** How often the directories of a chat's living processes are looked at, while somebody watches it. */
const LIVE_MS = 5_000;

/** One repository, chosen by a path. */
export class PathView implements View {
  readonly repositories: Map<string, Repository>;

  constructor(repository: Repository) {
    this.repositories = new Map([[repository.root, repository]]);
  }

  async refresh(): Promise<void> {
    return;
  }

  watch(listener: (snapshot: Snapshot) => void): () => void {
    const stops = [...this.repositories.values()].map((repository) =>
      repository.watch(() => {
        if (repository.snapshot) listener(repository.snapshot);
        if (repository.snapshot?.entry.removed) this.repositories.clear();
      }),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }
}

export interface ChatViewOptions {
  readonly chatId: ChatId;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Log;
  /** Roots that the chat has touched. */
  roots(): string[];
  /** Takes in the directories of the chat's living processes. */
  takeLive(): Promise<void>;
}

/** The repositories of one chat, shared by all its connections; there while there are any. */
export class ChatView implements View {
  readonly repositories = new Map<string, Repository>();
  readonly #o: ChatViewOptions;
  readonly #listeners = new Set<(snapshot: Snapshot) => void>();
  readonly #stops = new Map<string, () => void>();
  #refreshing: Promise<void> | undefined;
  #again = false;
  #cancel: (() => void) | undefined;

  constructor(options: ChatViewOptions) {
    this.#o = options;
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  watch(listener: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#poll();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#close();
    };
  }

  /** Resolves when the repositories are those that the chat has touched until now. */
  async refresh(): Promise<void> {
    this.#again = true;
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  /** Something of the chat happened: new repositories may be there, and polled ones may have changed. */
  async notice(): Promise<void> {
    await this.refresh();
    for (const repository of this.repositories.values()) if (!repository.isLive) void repository.scan();
  }

  async #refresh(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#o.takeLive();
      for (const root of this.#o.roots()) {
        if (this.repositories.has(root) || !this.isWatched) continue;
        const places = await placesOf(root);
        if (places && this.isWatched && !this.repositories.has(root)) this.#add(this.#o.registry.get(places));
      }
    }
  }

  #add(repository: Repository): void {
    const { root } = repository;
    this.repositories.set(root, repository);
    const tell = () => {
      const { snapshot } = repository;
      if (!snapshot) return;
      if (snapshot.entry.removed) this.#drop(root);
      for (const listener of Array.from(this.#listeners)) listener(snapshot);
    };
    this.#stops.set(root, repository.watch(tell));
    // Another chat may watch it already; then no scan is due that would tell of it.
    if (repository.isLive) tell();
  }

  #drop(root: string): void {
    this.repositories.delete(root);
    this.#stops.get(root)?.();
    this.#stops.delete(root);
  }

  #poll(): void {
    this.refresh()
      .catch((error: unknown) => this.#o.log.error("living processes could not be looked at", { error }))
      .finally(() => {
        if (this.isWatched) this.#cancel = this.#o.clock.after(LIVE_MS, () => this.#poll());
      });
  }

  #close(): void {
    this.#cancel?.();
    for (const root of Array.from(this.repositories.keys())) this.#drop(root);
  }
}
