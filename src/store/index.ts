// store: SQLite, and nothing but rows. One writer, the daemon; calls are synchronous and short.
//
// drover.db is a cache with a memory: the run directories are the truth about processes, so a corrupt file is moved aside and
// filled again; only events, tokens and the machine's id live here alone. `lock` is another SQLite file whose only use is that its
// exclusive lock dies with the daemon.
//
// Invariants: WAL with synchronous NORMAL (safe against kill -9; power loss may cost the last commits, never the file);
// migrations are append-only, a newer file is refused; row and object meet in one toRow/fromRow pair per table; a number of an
// event is never given twice. A file is opened once per process: closing any descriptor on it would drop the locks (fcntl(2)).
//
// Read: store.ts, database.ts, migrations.ts, processes.ts, events.ts, home-lock.ts.
export type { ChatRange, EventFilter, EventTable, NewEvent } from "./events.ts";
export type { GitPathTable } from "./git-paths.ts";
export { type HomeLock, lockHome } from "./home-lock.ts";
export type { ProcessQuery, ProcessTable, StoredProcess } from "./processes.ts";
export { Store, type StoreOptions } from "./store.ts";
export type { StoredToken, TokenTable } from "./tokens.ts";
