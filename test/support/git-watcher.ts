import { onTestFinished } from "vitest";
import { createLog, systemClock } from "../../src/base/index.ts";
import type { ChatId, GitRepository as Entry, GitChanges } from "../../src/contract/index.ts";
import { GitWatch, type GitWatchOptions } from "../../src/git/index.ts";
import type { Session } from "../../src/git/session.ts";
import { Store } from "../../src/store/index.ts";
import { GitRepository, makeTemporary } from "./git-repository.ts";
import { until } from "./until.ts";

export const chat = "11111111-1111-4111-8111-111111111111" as ChatId;
export const parent = "22222222-2222-4222-8222-222222222222" as ChatId;
export const log = createLog(2, "error");

interface Opened {
  git: GitWatch;
  store: Store;
}

/** A git watch with a store of its own, closed after the test. */
export function openGitWatch(more: Partial<GitWatchOptions> = {}): Opened {
  const store = Store.open(makeTemporary(), { log, now: () => Date.now() });
  const git = new GitWatch({
    store: store.gitPaths,
    clock: systemClock,
    log,
    env: GitRepository.at("/").env,
    liveDirectories: () => [],
    ...more,
  });
  onTestFinished(async () => {
    git.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    store.close();
  });
  return { git, store };
}

/** Collects what a session says. */
export class Watcher {
  readonly messages: (GitChanges & { at: number })[] = [];
  readonly session: Session;
  readonly #ending = new AbortController();
  done = false;

  constructor(make: (signal: AbortSignal) => Session) {
    this.session = make(this.#ending.signal);
    void this.#collect();
    onTestFinished(() => this.close());
  }

  async #collect(): Promise<void> {
    for await (const { pieces } of this.session.messages()) {
      const message = JSON.parse(Buffer.concat([...pieces]).toString()) as GitChanges;
      this.messages.push({ ...message, at: performance.now() });
    }
    this.done = true;
  }

  get entries(): Entry[] {
    return this.messages.flatMap((message) => message.repositories ?? []);
  }

  next(what: string, holds: (entry: Entry) => boolean, timeoutMs = 10_000): Promise<Entry> {
    return until(what, () => this.entries.findLast(holds), { timeoutMs });
  }

  close(): void {
    this.#ending.abort();
  }
}

export const hasFile = (path: string) => (entry: Entry) => entry.files?.some((file) => file.path === path) === true;

/** Until events are had: from then on changes are quick. */
export async function untilWatched(git: GitWatch, count = 1): Promise<void> {
  await until("events are had", () => {
    const { repositories, polled } = git.facts();
    return repositories === count && polled === 0;
  });
  await new Promise((resolve) => setTimeout(resolve, 2_500));
}
