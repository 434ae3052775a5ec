import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import { createPrivately, Database, openFault, sqlite, sqliteCode } from "./database.ts";

/** Held for the daemon's life; the kernel gives it back when the daemon dies, however that happens. */
export interface HomeLock {
  close(): void;
}

/** One that is just ending may need a moment. */
const PATIENCE_MS = 200;

/** Fault daemon/already-running when another daemon has this home. */
export function lockHome(home: string): HomeLock {
  const path = join(home, "lock");
  createPrivately(path);
  const database = new Database(path, PATIENCE_MS);
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw sqliteCode(error) === sqlite.busy ? alreadyRunning(home, error) : openFault(path, error);
  }
  return { close: () => database.close() };
}

function alreadyRunning(home: string, cause: unknown): Fault {
  const { pid, url } = readDaemonFile(home);
  const where = pid === undefined ? "" : ` (pid ${pid}${url === undefined ? "" : `, ${url}`})`;
  return new Fault("daemon/already-running", `Another daemon holds ${home}${where}.`, { data: { pid, url }, cause });
}

function readDaemonFile(home: string): { pid?: number; url?: string } {
  try {
    const found: unknown = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8"));
    const { pid, url } = Object(found) as { pid?: unknown; url?: unknown };
    return { ...(typeof pid === "number" && { pid }), ...(typeof url === "string" && { url }) };
  } catch (error) {
    ignore(error, "it may not be written yet");
    return {};
  }
}
