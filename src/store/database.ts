import { closeSync, openSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from "@photostructure/sqlite";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";

/** Primary result codes of SQLite (sqlite.org/rescode.html) that mean something here. */
export const sqlite = {
  perm: 3,
  busy: 5,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  auth: 23,
  notadb: 26,
} as const;

type Value = string | number | null;
/** A row as SQLite gives it: snake_case columns. */
export type Row = Record<string, Value>;

/** The primary result code, or undefined when it is another error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

/** Makes the file private before SQLite sees it. Never opens one that exists: closing it would drop this process's locks on it. */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw openFault(path, error);
    ignore(error, "it exists already");
  }
}

/** What a failed open means. */
export function openFault(path: string, cause: unknown): unknown {
  const codes: readonly (number | undefined)[] = [sqlite.perm, sqlite.readonly, sqlite.cantopen, sqlite.auth];
  const system = (cause as NodeJS.ErrnoException).code;
  if (isDiskFull(cause, path)) return diskFull(cause);
  const isDenied =
    codes.includes(sqliteCode(cause)) ||
    ["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EISDIR"].includes(system ?? "");
  return isDenied
    ? new Fault("daemon/home-unusable", `${path} cannot be opened; check owner and permissions.`, { cause })
    : cause;
}

/** One connection, with its statements kept and its failures translated. */
export class Database {
  readonly #path: string;
  readonly #db: DatabaseSyncInstance;
  readonly #statements = new Map<string, StatementSyncInstance>();
  #depth = 0;

  constructor(path: string, timeoutMs: number) {
    this.#path = path;
    try {
      this.#db = new DatabaseSync(path, { timeout: timeoutMs });
    } catch (error) {
      throw openFault(path, error);
    }
  }

  exec(sql: string): void {
    this.#translate(() => this.#db.exec(sql));
  }

  run(sql: string, ...values: Value[]): { changes: number; lastInsertRowid: number } {
    const done = this.#translate(() => this.#prepare(sql).run(...values));
    return { changes: done.changes, lastInsertRowid: Number(done.lastInsertRowid) };
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#translate(() => this.#prepare(sql).get(...values) as Row | undefined);
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#translate(() => this.#prepare(sql).all(...values) as Row[]);
  }

  /** All or nothing. Inside another one it is simply a part of that. */
  transact<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.exec("BEGIN IMMEDIATE");
    this.#depth++;
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#depth--;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepare(sql: string): StatementSyncInstance {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** A full disk rolls back by itself; then there is no transaction to end. */
  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    } catch (error) {
      ignore(error, "the first failure is the one to tell");
    }
  }

  #translate<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw isDiskFull(error, this.#path) ? diskFull(error) : error;
    }
  }
}

/** SQLite says FULL for ENOSPC but IOERR for a quota and for its shared-memory file. */
function isDiskFull(error: unknown, path: string): boolean {
  const system = (error as NodeJS.ErrnoException).code;
  const code = sqliteCode(error);
  if (code === sqlite.full || system === "ENOSPC" || system === "EDQUOT") return true;
  return code === sqlite.ioerr && statfsSync(dirname(path)).bavail === 0;
}

function diskFull(cause: unknown): Fault {
  return new Fault("store/disk-full", "No space is left under DROVER_HOME; free some, or lower `log_total_bytes`.", {
    cause,
  });
}
