import type { ChatId } from "../contract/index.ts";
import type { Database, Row } from "./database.ts";

/** A token at rest: its digest, never itself. */
export interface StoredToken {
  id: string;
  /** SHA-256 in hex. The token is 256 random bits, so nothing slower is needed. */
  digest: string;
  label?: string;
  chatId?: ChatId;
  readOnly: boolean;
  descendants: boolean;
  createdAtMs: number;
  expiresAtMs?: number;
  lastUsedAtMs?: number;
}

/** The table `tokens`. */
export class TokenTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Oldest first. */
  all(): StoredToken[] {
    return this.#db.all("SELECT * FROM tokens ORDER BY created_at_ms, rowid").map(fromRow);
  }

  add(token: StoredToken): void {
    this.#db.run(insert, ...toRow(token));
  }

  touch(id: string, atMs: number): void {
    this.#db.run("UPDATE tokens SET last_used_at_ms = ? WHERE id = ?", atMs, id);
  }

  remove(id: string): void {
    this.#db.run("DELETE FROM tokens WHERE id = ?", id);
  }
}

const insert = `
  INSERT INTO tokens (id, digest, label, chat_id, read_only, descendants, created_at_ms, expires_at_ms, last_used_at_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function toRow(token: StoredToken): (string | number | null)[] {
  return [
    token.id,
    token.digest,
    token.label ?? null,
    token.chatId ?? null,
    token.readOnly ? 1 : 0,
    token.descendants ? 1 : 0,
    token.createdAtMs,
    token.expiresAtMs ?? null,
    token.lastUsedAtMs ?? null,
  ];
}

function fromRow(row: Row): StoredToken {
  return {
    id: String(row["id"]),
    digest: String(row["digest"]),
    ...(row["label"] != null && { label: String(row["label"]) }),
    ...(row["chat_id"] != null && { chatId: String(row["chat_id"]) as ChatId }),
    readOnly: row["read_only"] === 1,
    descendants: row["descendants"] === 1,
    createdAtMs: Number(row["created_at_ms"]),
    ...(row["expires_at_ms"] != null && { expiresAtMs: Number(row["expires_at_ms"]) }),
    ...(row["last_used_at_ms"] != null && { lastUsedAtMs: Number(row["last_used_at_ms"]) }),
  };
}
