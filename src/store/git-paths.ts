import type { ChatId } from "../contract/index.ts";
import type { Database } from "./database.ts";

/** Repositories kept for one chat; the oldest give way. */
const KEEP_PER_CHAT = 200;

/** The table `git_paths`: which repositories a chat has touched, and when it last did. */
export class GitPathTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  touch(chatId: ChatId, root: string, atMs: number): void {
    this.#db.transact(() => {
      this.#db.run(upsert, chatId, root, atMs);
      this.#db.run(trim, chatId, chatId, KEEP_PER_CHAT);
    });
  }

  /** Newest first. */
  rootsOf(chatId: ChatId, sinceMs: number): string[] {
    const sql = "SELECT root FROM git_paths WHERE chat_id = ? AND seen_at_ms >= ? ORDER BY seen_at_ms DESC, root";
    return this.#db.all(sql, chatId, sinceMs).map((row) => String(row["root"]));
  }

  prune(beforeMs: number): void {
    this.#db.run("DELETE FROM git_paths WHERE seen_at_ms < ?", beforeMs);
  }
}

const upsert = `
  INSERT INTO git_paths (chat_id, root, seen_at_ms) VALUES (?, ?, ?)
  ON CONFLICT (chat_id, root) DO UPDATE SET seen_at_ms = excluded.seen_at_ms`;
const trim = `
  DELETE FROM git_paths WHERE chat_id = ? AND root NOT IN (
    SELECT root FROM git_paths WHERE chat_id = ? ORDER BY seen_at_ms DESC, root LIMIT ?
  )`;
