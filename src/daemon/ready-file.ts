import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** daemon.json: where the daemon is. There only while it answers; never half written. */
export interface ReadyFile {
  url: string;
  socket: string;
  pid: number;
  version: string;
  protocol: number;
  machine_id: string;
  started_at: string;
}

export function writeReadyFile(home: string, facts: ReadyFile): void {
  const path = join(home, "daemon.json");
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(facts, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
}

export function removeReadyFile(home: string): void {
  rmSync(join(home, "daemon.json"), { force: true });
}
