import { randomUUID } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../base/index.ts";
import type { MachineId } from "../contract/index.ts";
import { createPrivately, Database, openFault, sqlite, sqliteCode } from "./database.ts";
import { EventTable } from "./events.ts";
import { GitPathTable } from "./git-paths.ts";
import { migrate } from "./migrations.ts";
import { ProcessTable } from "./processes.ts";
import { TokenTable } from "./tokens.ts";

/** What a store is given. */
export interface StoreOptions {
  log: Log;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Somebody may look at the file with another program. */
const BUSY_MS = 5_000;

/** drover.db: what the daemon remembers. All calls are synchronous and short. */
export class Store {
  /** The file was corrupt and a new one was begun: fill it again from the run directories. */
  readonly rebuilt: boolean;
  readonly processes: ProcessTable;
  readonly events: EventTable;
  readonly gitPaths: GitPathTable;
  readonly tokens: TokenTable;
  readonly #db: Database;

  private constructor(db: Database, rebuilt: boolean) {
    this.#db = db;
    this.rebuilt = rebuilt;
    this.processes = new ProcessTable(db);
    this.events = new EventTable(db);
    this.gitPaths = new GitPathTable(db);
    this.tokens = new TokenTable(db);
  }

  static open(home: string, options: StoreOptions): Store {
    const path = join(home, "drover.db");
    try {
      return new Store(openDatabase(path), false);
    } catch (error) {
      const code = sqliteCode(error);
      if (code !== sqlite.corrupt && code !== sqlite.notadb) throw openFault(path, error);
      options.log.error("database is corrupt, beginning a new one", { path, error });
    }
    const now = options.now();
    moveAside(path, now);
    const store = new Store(openDatabase(path), true);
    store.events.continueFrom(now);
    return store;
  }

  /** Who this home is; made once. */
  machine(): { id: MachineId; created: boolean } {
    const created =
      this.#db.run("INSERT OR IGNORE INTO home (key, value) VALUES ('machine_id', ?)", randomUUID()).changes > 0;
    const row = this.#db.get("SELECT value FROM home WHERE key = 'machine_id'");
    return { id: String(row?.["value"]) as MachineId, created };
  }

  /** All or nothing; may be nested. */
  transact<T>(work: () => T): T {
    return this.#db.transact(work);
  }

  close(): void {
    this.#db.close();
  }
}

function openDatabase(path: string): Database {
  createPrivately(path);
  const db = new Database(path, BUSY_MS);
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    const verdict = db.get("PRAGMA quick_check(1)")?.["quick_check"];
    if (verdict !== "ok") throw Object.assign(new Error(`quick_check: ${verdict}`), { errcode: sqlite.corrupt });
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function moveAside(path: string, now: number): void {
  for (const end of ["", "-wal", "-shm"])
    if (existsSync(path + end)) renameSync(path + end, `${path}.corrupt-${now}${end}`);
}
