import { Fault } from "../contract/index.ts";
import type { Database } from "./database.ts";

/** Numbered by position, append-only; `user_version` says how many were applied. */
const migrations: readonly string[] = [
  `
  CREATE TABLE home (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE processes (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    chat_id TEXT,
    state TEXT NOT NULL,
    is_running INTEGER NOT NULL,
    is_ended INTEGER NOT NULL,
    over_at_ms INTEGER,
    label TEXT,
    token_digest TEXT,
    announced INTEGER NOT NULL,
    meta TEXT NOT NULL,
    facts TEXT NOT NULL
  );
  CREATE INDEX processes_by_seq ON processes (seq);
  CREATE INDEX processes_by_chat ON processes (chat_id, seq);
  CREATE INDEX processes_running ON processes (seq) WHERE is_running = 1;
  CREATE INDEX processes_not_ended ON processes (seq) WHERE is_ended = 0;
  CREATE INDEX processes_over ON processes (over_at_ms) WHERE is_ended = 1;
  CREATE INDEX processes_by_label ON processes (label, seq) WHERE label IS NOT NULL;
  CREATE INDEX processes_by_token ON processes (token_digest) WHERE token_digest IS NOT NULL;

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    at TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    machine_id TEXT NOT NULL,
    chat_id TEXT,
    process_id TEXT,
    data TEXT NOT NULL
  );
  CREATE INDEX events_by_process ON events (process_id, seq) WHERE process_id IS NOT NULL;
  CREATE INDEX events_by_chat ON events (chat_id, seq) WHERE chat_id IS NOT NULL;
  `,
  `
  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    label TEXT,
    chat_id TEXT,
    read_only INTEGER NOT NULL,
    descendants INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    last_used_at_ms INTEGER
  );

  CREATE TABLE process_ancestors (
    chat_id TEXT NOT NULL,
    process_id TEXT NOT NULL,
    PRIMARY KEY (chat_id, process_id)
  ) WITHOUT ROWID;
  CREATE INDEX process_ancestors_by_process ON process_ancestors (process_id);
  INSERT INTO process_ancestors (chat_id, process_id)
    SELECT DISTINCT value, processes.id FROM processes, json_each(processes.meta, '$.ancestor_chat_ids');

  ALTER TABLE events ADD COLUMN ancestors TEXT;
  `,
  `
  CREATE TABLE git_paths (
    chat_id TEXT NOT NULL,
    root TEXT NOT NULL,
    seen_at_ms INTEGER NOT NULL,
    PRIMARY KEY (chat_id, root)
  ) WITHOUT ROWID;
  CREATE INDEX git_paths_by_age ON git_paths (seen_at_ms);
  `,
];

/** Brings the schema up to date; Fault store/newer when a newer Drover has written it. */
export function migrate(database: Database): void {
  const version = Number(database.get("PRAGMA user_version")?.["user_version"] ?? 0);
  if (version > migrations.length) {
    throw new Fault(
      "store/newer",
      `The database has schema ${version}, this Drover knows ${migrations.length}; install the newer one.`,
    );
  }
  for (const [i, sql] of migrations.entries()) {
    if (i < version) continue;
    database.transact(() => {
      database.exec(sql);
      database.exec(`PRAGMA user_version = ${i + 1}`);
    });
  }
}
