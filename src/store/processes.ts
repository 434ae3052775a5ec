import type { ChatId, ProcessFacts, ProcessMeta } from "../contract/index.ts";
import type { Database, Row } from "./database.ts";
import type { ChatRange } from "./events.ts";

/** A record as it was last saved. */
export interface StoredProcess {
  meta: ProcessMeta;
  facts: ProcessFacts;
  /** What the event log holds already: 1 started, 2 exited, 4 ended, 8 lost. */
  announced: number;
}

/** Newest first. */
export interface ProcessQuery {
  chat?: ChatId | undefined;
  within?: ChatRange | undefined;
  /** `running`: the command itself is alive. Default: all. */
  states?: "running" | "ended" | "all" | undefined;
  /** Only those with a smaller seq. */
  before?: number | undefined;
  limit: number;
  label?: string | undefined;
  prefix?: string | undefined;
  /** Those that are over must have ended after this time. */
  endedAfterMs?: number | undefined;
}

const columns = "meta, facts, announced";

/** The table `processes`. */
export class ProcessTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** One upsert; only what was observed changes. */
  save(meta: ProcessMeta, facts: ProcessFacts, announced: number): void {
    this.#db.run(upsert, ...toRow(meta, facts, announced));
    for (const chat of meta.ancestor_chat_ids ?? []) this.#db.run(insertAncestor, chat, meta.id);
  }

  find(id: string): StoredProcess | undefined {
    return first(this.#db.get(`SELECT ${columns} FROM processes WHERE id = ?`, id));
  }

  /** Those of which something may still be alive, oldest first. */
  open(): StoredProcess[] {
    return this.#db.all(`SELECT ${columns} FROM processes WHERE is_ended = 0 ORDER BY seq`).map(fromRow);
  }

  page(query: ProcessQuery): StoredProcess[] {
    const { where, values } = conditionsOf(query);
    const sql = `SELECT ${columns} FROM processes ${where} ORDER BY seq DESC LIMIT ?`;
    return this.#db.all(sql, ...values, query.limit).map(fromRow);
  }

  /** How many of those that match are over. */
  countEnded(query: Omit<ProcessQuery, "limit" | "states">): number {
    const { where, values } = conditionsOf({ ...query, states: "ended", limit: 0 });
    return Number(this.#db.get(`SELECT count(*) AS n FROM processes ${where}`, ...values)?.["n"] ?? 0);
  }

  /** A token is scoped to its chat; no chat is a scope of its own. */
  byToken(chat: ChatId | undefined, digest: string): StoredProcess | undefined {
    const sql = `SELECT ${columns} FROM processes WHERE token_digest = ? AND chat_id IS ? ORDER BY seq DESC LIMIT 1`;
    return first(this.#db.get(sql, digest, chat ?? null));
  }

  count(): { running: number; exited: number; lost: number } {
    const counts = new Map(
      this.#db
        .all("SELECT state, count(*) AS n FROM processes GROUP BY state")
        .map((row) => [row["state"], Number(row["n"])]),
    );
    const of = (state: ProcessFacts["state"]) => counts.get(state) ?? 0;
    return { running: of("starting") + of("running"), exited: of("exited"), lost: of("lost") };
  }

  /** 0 when there is none. */
  maxSeq(): number {
    return Number(this.#db.get("SELECT max(seq) AS n FROM processes")?.["n"] ?? 0);
  }

  /** Ended ones that were over before a time (wall clock), oldest first. */
  endedBefore(ms: number, limit: number): StoredProcess[] {
    const sql = `SELECT ${columns} FROM processes WHERE is_ended = 1 AND over_at_ms < ? ORDER BY over_at_ms LIMIT ?`;
    return this.#db.all(sql, ms, limit).map(fromRow);
  }

  /** Ended ones of a chat beyond its newest `keep`, oldest first. Only the kept ones are walked over, whatever the table's size. */
  surplus(chat: ChatId | undefined, query: { keep: number; limit: number }): StoredProcess[] {
    const id = chat ?? null;
    return this.#db.all(surplus, id, id, query.keep, query.limit).map(fromRow);
  }

  /** Every chat that has a process, and undefined for those that have none. */
  chats(): (ChatId | undefined)[] {
    return [undefined, ...this.#db.all(chats).map((row) => String(row["id"]) as ChatId)];
  }

  remove(id: string): void {
    this.#db.run("DELETE FROM process_ancestors WHERE process_id = ?", id);
    this.#db.run("DELETE FROM processes WHERE id = ?", id);
  }

  endedOldestFirst(limit: number): StoredProcess[] {
    const sql = `SELECT ${columns} FROM processes WHERE is_ended = 1 ORDER BY over_at_ms LIMIT ?`;
    return this.#db.all(sql, limit).map(fromRow);
  }

  ids(): Set<string> {
    return new Set(this.#db.all("SELECT id FROM processes").map((row) => String(row["id"])));
  }
}

const upsert = `
  INSERT INTO processes (id, seq, chat_id, state, is_running, is_ended, over_at_ms, label, token_digest, announced, meta, facts)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, is_running = excluded.is_running, is_ended = excluded.is_ended,
    over_at_ms = excluded.over_at_ms, announced = excluded.announced, facts = excluded.facts`;

const insertAncestor = "INSERT OR IGNORE INTO process_ancestors (chat_id, process_id) VALUES (?, ?)";

const surplus = `
  SELECT ${columns} FROM processes WHERE chat_id IS ? AND is_ended = 1 AND seq <= (
    SELECT seq FROM processes WHERE chat_id IS ? AND is_ended = 1 ORDER BY seq DESC LIMIT 1 OFFSET ?
  ) ORDER BY seq LIMIT ?`;

/** One step in the index per chat; DISTINCT would read all of it. */
const chats = `
  WITH RECURSIVE chat (id) AS (
    SELECT min(chat_id) FROM processes
    UNION ALL
    SELECT (SELECT min(chat_id) FROM processes WHERE chat_id > chat.id) FROM chat WHERE chat.id IS NOT NULL
  ) SELECT id FROM chat WHERE id IS NOT NULL`;

function toRow(meta: ProcessMeta, facts: ProcessFacts, announced: number): (string | number | null)[] {
  const isOver = facts.exited_at_ms !== undefined || facts.ended_at_ms !== undefined;
  return [
    meta.id,
    meta.seq,
    meta.chat_id ?? null,
    facts.state,
    isOver ? 0 : 1,
    facts.ended_at_ms === undefined ? 0 : 1,
    facts.exited_at_ms ?? facts.ended_at_ms ?? null,
    meta.label ?? null,
    meta.client_token_digest ?? null,
    announced,
    JSON.stringify(meta),
    JSON.stringify(facts),
  ];
}

function fromRow(row: Row): StoredProcess {
  return {
    meta: JSON.parse(String(row["meta"])) as ProcessMeta,
    facts: JSON.parse(String(row["facts"])) as ProcessFacts,
    announced: Number(row["announced"]),
  };
}

function first(row: Row | undefined): StoredProcess | undefined {
  return row && fromRow(row);
}

const isBelow = "(chat_id = ? OR id IN (SELECT process_id FROM process_ancestors WHERE chat_id = ?))";

function conditionsOf(query: ProcessQuery): { where: string; values: (string | number)[] } {
  const found: [string, ...(string | number)[]][] = [];
  if (query.chat !== undefined) found.push(["chat_id = ?", query.chat]);
  const { within } = query;
  if (within?.descendants) found.push([isBelow, within.chat, within.chat]);
  else if (within) found.push(["chat_id = ?", within.chat]);
  if (query.states === "running") found.push(["is_running = 1"]);
  if (query.states === "ended") found.push(["is_running = 0"]);
  if (query.before !== undefined) found.push(["seq < ?", query.before]);
  if (query.label !== undefined) found.push(["label = ?", query.label]);
  if (query.prefix !== undefined) found.push(["id >= ? AND id < ?", query.prefix, `${query.prefix}\u{10ffff}`]);
  if (query.endedAfterMs !== undefined) found.push(["(is_running = 1 OR over_at_ms > ?)", query.endedAfterMs]);
  const where = found.length > 0 ? `WHERE ${found.map(([sql]) => sql).join(" AND ")}` : "";
  return { where, values: found.flatMap(([, ...values]) => values) };
}
