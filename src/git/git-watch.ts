import type { Clock, Log } from "../base/index.ts";
import { type ChatId, Fault, type GitFacts, type GitRepository } from "../contract/index.ts";
import { findRepository } from "./find-repository.ts";
import { Registry } from "./registry.ts";
import type { Repository } from "./repository.ts";
import { Git } from "./run-git.ts";
import { Session, type View } from "./session.ts";
import { ChatView, PathView } from "./views.ts";

/** What is older is forgotten: a chat that was silent for a month is over. */
const KEEP_MS = 30 * 86_400_000;
/** A touch is written once an hour; its age is counted in days. */
const TOUCH_MS = 3_600_000;
const TOUCHES_MOST = 10_000;

/** Which repositories a chat has touched, kept over restarts; a bounded number for each chat. */
export interface RootStore {
  touch(chatId: ChatId, root: string, atMs: number): void;
  /** Newest first. */
  rootsOf(chatId: ChatId, sinceMs: number): string[];
  prune(beforeMs: number): void;
}

export interface GitWatchOptions {
  readonly store: RootStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the living processes of a chat are right now. */
  liveDirectories(chatId: ChatId): Promise<string[]> | string[];
}

/** Knows which repositories a chat works in, and watches those that somebody looks at. */
export class GitWatch {
  readonly #o: GitWatchOptions;
  readonly #git: Git;
  readonly #registry: Registry;
  readonly #views = new Map<ChatId, ChatView>();
  readonly #touched = new Map<string, number>();
  readonly #sessions = new Set<AbortController>();
  #isClosed = false;
  #scans = 0;

  constructor(options: GitWatchOptions) {
    this.#o = options;
    this.#git = new Git(options.env);
    this.#registry = new Registry({ ...options, git: this.#git, nextScan: () => ++this.#scans });
    options.store.prune(options.clock.now() - KEEP_MS);
  }

  /** A path that a chat has worked in; also told to those above it. Relative paths and those outside of any repository are passed over. */
  add(chatId: ChatId, ancestors: readonly ChatId[], path: string): void {
    this.#add([chatId, ...ancestors], path).catch((error: unknown) => this.#complain(error));
  }

  /** Something of the chat happened, and may have changed its repositories. */
  notify(chatId: ChatId, ancestors: readonly ChatId[]): void {
    for (const chat of new Set([chatId, ...ancestors])) {
      this.#views
        .get(chat)
        ?.notice()
        .catch((error: unknown) => this.#complain(error));
    }
  }

  /** The repositories of a chat; without one, silence. */
  watchChat(chatId: ChatId | undefined, signal: AbortSignal): Session {
    return this.#open(() => (chatId === undefined ? silence : this.#viewOf(chatId)), signal);
  }

  /** Fault git/no-repository when none holds the path. */
  async watchPath(path: string, chatId: ChatId | undefined, signal: AbortSignal): Promise<Session> {
    const view = new PathView(await this.#find(path, chatId));
    return this.#open(() => view, signal);
  }

  /** One repository as it is now. With a chat only those that it has touched. */
  async status(path: string, chatId: ChatId | undefined): Promise<GitRepository> {
    const repository = await this.#find(path, chatId);
    await repository.fresh();
    const entry = repository.snapshot?.entry;
    if (!entry || entry.removed) throw noRepository(path);
    return entry;
  }

  facts(): GitFacts {
    const repositories = this.#registry.watched();
    const reasons = repositories.flatMap((repository) => repository.polledBecause ?? []);
    return {
      connections: this.#sessions.size,
      repositories: repositories.length,
      polled: reasons.length,
      reasons: [...new Set(reasons)],
    };
  }

  /** git processes started so far. */
  get gitProcesses(): number {
    return this.#git.started;
  }

  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.abort();
    this.#git.close();
  }

  #open(view: () => View, signal: AbortSignal): Session {
    const ending = new AbortController();
    this.#sessions.add(ending);
    const end = () => {
      this.#sessions.delete(ending);
      ending.abort();
    };
    if (signal.aborted || this.#isClosed) end();
    else signal.addEventListener("abort", end, { once: true });
    return new Session(view, this.#o.clock, ending.signal);
  }

  #viewOf(chatId: ChatId): ChatView {
    for (const [id, view] of this.#views) if (!view.isWatched) this.#views.delete(id);
    const known = this.#views.get(chatId);
    if (known) return known;
    const { store, clock } = this.#o;
    const view = new ChatView({
      ...this.#o,
      chatId,
      registry: this.#registry,
      roots: () => (this.#isClosed ? [] : store.rootsOf(chatId, clock.now() - KEEP_MS)),
      takeLive: () => this.#takeLive(chatId),
    });
    this.#views.set(chatId, view);
    return view;
  }

  async #takeLive(chatId: ChatId): Promise<void> {
    for (const path of new Set(await this.#o.liveDirectories(chatId))) {
      const places = await findRepository(path);
      if (places) this.#touch(chatId, places.root);
    }
  }

  async #add(chats: readonly ChatId[], path: string): Promise<void> {
    const places = await findRepository(path);
    for (const chat of new Set(chats)) {
      if (places) this.#touch(chat, places.root);
      this.notify(chat, []);
    }
  }

  #touch(chatId: ChatId, root: string): void {
    if (this.#isClosed) return;
    const key = `${chatId} ${root}`;
    const now = this.#o.clock.now();
    if (now - (this.#touched.get(key) ?? 0) < TOUCH_MS) return;
    if (this.#touched.size >= TOUCHES_MOST) this.#touched.clear();
    this.#touched.set(key, now);
    this.#o.store.touch(chatId, root, now);
  }

  async #find(path: string, chatId: ChatId | undefined): Promise<Repository> {
    const places = await findRepository(path);
    const { store, clock } = this.#o;
    const isOwn = () =>
      chatId === undefined || store.rootsOf(chatId, clock.now() - KEEP_MS).includes(places?.root ?? "");
    if (!places || !isOwn()) throw noRepository(path);
    return this.#registry.get(places);
  }

  #complain(error: unknown): void {
    this.#o.log.error("a path of a chat could not be taken in", { error });
  }
}

const silence: View = { repositories: new Map(), refresh: async () => undefined, watch: () => () => undefined };

function noRepository(path: string): Fault {
  return new Fault("git/no-repository", `No git repository holds ${path}.`, { data: { path } });
}
