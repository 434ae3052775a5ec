import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog, type Log, systemClock } from "../../src/base/index.ts";
import type { Caller, ChatId, Config } from "../../src/contract/index.ts";
import { configSchema } from "../../src/contract/schemas.ts";
import { GitWatch } from "../../src/git/index.ts";
import { Supervisor } from "../../src/process/index.ts";
import { Store } from "../../src/store/index.ts";
import { TokenBook } from "../../src/tokens/index.ts";

/** A DROVER_HOME of its own, and supervisors in it one after the other, as a daemon that is restarted. */
export class TestHome {
  readonly path: string;
  readonly log: Log;
  #open: { supervisor: Supervisor; store: Store } | undefined;

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "drover-test-"));
    this.log = createLog(2, process.env["DROVER_TEST_LOG"] === "1" ? "debug" : "error", { home: this.path });
  }

  async open(
    settings: Partial<Config> = {},
    env: Record<string, string | undefined> = process.env,
  ): Promise<Supervisor> {
    const store = Store.open(this.path, { log: this.log, now: () => Date.now() });
    const supervisor = await Supervisor.open({
      home: this.path,
      config: { ...configSchema.parse({}), ...settings },
      store,
      machineId: store.machine().id,
      key: Buffer.from("test key"),
      env,
      cwd: process.cwd(),
      log: this.log,
    });
    this.#open = { supervisor, store };
    return supervisor;
  }

  /** Holds nothing open until somebody watches. */
  openGit(): GitWatch {
    const store = this.store.gitPaths;
    const { env } = process;
    return new GitWatch({ store, clock: systemClock, log: this.log, env, liveDirectories: () => [] });
  }

  get store(): Store {
    if (!this.#open) throw new Error("not open");
    return this.#open.store;
  }

  openTokens(): TokenBook {
    return TokenBook.open({ store: this.store, clock: systemClock, log: this.log });
  }

  /** As a daemon that ends: processes go on. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.supervisor.close();
    open?.store.close();
  }

  /** Stops every process, closes and removes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#open) await this.open();
    await this.#open?.supervisor.stopAll();
    await this.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A caller without a chat, or with one. */
export function caller(chatId?: string, signal: AbortSignal = new AbortController().signal): Caller {
  return {
    requestId: randomUUID(),
    chatId: chatId as ChatId | undefined,
    ancestorChatIds: [],
    scope: { kind: "all" },
    readOnly: false,
    strict: true,
    signal,
  };
}
