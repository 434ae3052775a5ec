import type { ChatId, DroverEvent, EventType, ProcessId } from "../contract/index.ts";
import type { Database, Row } from "./database.ts";

/** An event before it has a number. */
export type NewEvent = Omit<DroverEvent, "seq">;

/** One chat, or with those below it: what they start names it as an ancestor. */
export interface ChatRange {
  chat: ChatId;
  descendants: boolean;
}

/** All that is given must match. */
export interface EventFilter {
  chat?: ChatId | undefined;
  within?: ChatRange | undefined;
  process?: ProcessId | undefined;
  types?: EventType[] | undefined;
}

/** One prune never holds the event loop for long. */
const PRUNE_ROWS = 200;

/** The table `events`. Numbers are never given twice, whatever was pruned. */
export class EventTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  append(events: readonly NewEvent[]): DroverEvent[] {
    return this.#db.transact(() =>
      events.map((event) => ({ ...event, seq: this.#db.run(insert, ...toRow(event)).lastInsertRowid })),
    );
  }

  /** Oldest first. */
  after(seq: number, filter: EventFilter, limit: number): DroverEvent[] {
    const found: [string, ...(string | number)[]][] = [["seq > ?", seq]];
    const { within } = filter;
    if (within?.descendants) found.push(["(chat_id = ? OR instr(ancestors, ?) > 0)", within.chat, within.chat]);
    else if (within) found.push(["chat_id = ?", within.chat]);
    if (filter.chat !== undefined) found.push(["chat_id = ?", filter.chat]);
    if (filter.process !== undefined) found.push(["process_id = ?", filter.process]);
    if (filter.types !== undefined)
      found.push(["type IN (SELECT value FROM json_each(?))", JSON.stringify(filter.types)]);
    const conditions = found.map(([sql]) => sql);
    const values = found.flatMap(([, ...given]) => given);
    const sql = `SELECT * FROM events WHERE ${conditions.join(" AND ")} ORDER BY seq LIMIT ?`;
    return this.#db.all(sql, ...values, limit).map(fromRow);
  }

  /** `newest` was given last, 0 when none ever was; `oldest` is the first that is kept, `newest` + 1 when none is. */
  bounds(): { oldest: number; newest: number } {
    const newest = Number(this.#db.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.["seq"] ?? 0);
    const oldest = this.#db.get("SELECT min(seq) AS n FROM events")?.["n"];
    return { oldest: Number(oldest ?? newest + 1), newest };
  }

  /** Removes what is older than `beforeMs` or not among the newest `keepNewest`, a bounded number at a time. Returns how many. */
  prune(options: { beforeMs: number; keepNewest: number }): number {
    const upTo = this.bounds().newest - options.keepNewest;
    return this.#db.run(prune, PRUNE_ROWS, upTo, options.beforeMs).changes;
  }

  /** After a rebuild: numbers go on above any that a client may remember. */
  continueFrom(seq: number): void {
    this.#db.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)", seq);
  }
}

const insert =
  "INSERT INTO events (type, at, at_ms, machine_id, chat_id, ancestors, process_id, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
const prune = `
  DELETE FROM events WHERE seq IN (
    SELECT seq FROM (SELECT seq, at_ms FROM events ORDER BY seq LIMIT ?) WHERE seq <= ? OR at_ms < ?
  )`;

function toRow(event: NewEvent): (string | number | null)[] {
  return [
    event.type,
    event.at,
    Date.parse(event.at),
    event.machine_id,
    event.chat_id ?? null,
    event.ancestor_chat_ids ? JSON.stringify(event.ancestor_chat_ids) : null,
    event.process_id ?? null,
    JSON.stringify(event.data),
  ];
}

function fromRow(row: Row): DroverEvent {
  return {
    seq: Number(row["seq"]),
    type: row["type"] as EventType,
    at: String(row["at"]),
    machine_id: String(row["machine_id"]),
    ...(row["chat_id"] != null && { chat_id: String(row["chat_id"]) }),
    ...(row["ancestors"] != null && { ancestor_chat_ids: JSON.parse(String(row["ancestors"])) as string[] }),
    ...(row["process_id"] != null && { process_id: String(row["process_id"]) }),
    data: JSON.parse(String(row["data"])) as Record<string, unknown>,
  };
}
