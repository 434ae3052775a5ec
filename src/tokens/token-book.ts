import { hash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { Clock, Log } from "../base/index.ts";
import { type ChatId, Fault, type Grant } from "../contract/index.ts";
import type { Store, StoredToken } from "../store/index.ts";

const TOKEN_BYTES = 32;
/** Lets people and secret scanners see what it is. */
const TOKEN_PREFIX = "drover_";
/** A product that makes one per chat has some thousands; each costs half a kilobyte of memory. */
const TOKENS_MOST = 10_000;
/** `last_used_at` is exact to this much, so that a busy token does not cost a write per request. */
const USED_STEP_MS = 60_000;
/** An expired token is listed this long, so that its holder hears why and its maker sees it. */
const EXPIRED_KEEP_MS = 30 * 86_400_000;
/** Timers cannot be set further ahead than 24 days; and a clock may be set. */
const LOOK_MOST_MS = 3_600_000;

export interface TokenBookOptions {
  store: Store;
  clock: Clock;
  log: Log;
}

/** What a token is to be. */
export interface NewToken {
  label?: string | undefined;
  chatId?: ChatId | undefined;
  readOnly: boolean;
  descendants: boolean;
  expiresInMs?: number | undefined;
}

type Watcher = (tokenId: string, why: Fault) => void;

interface Entry {
  token: StoredToken;
  readonly digest: Buffer;
  readonly grant: Grant;
  /** Watchers were told of its end. */
  isOver: boolean;
}

/** Every token that was made, by digest. */
export class TokenBook {
  readonly #o: TokenBookOptions;
  readonly #byDigest = new Map<string, Entry>();
  readonly #byId = new Map<string, Entry>();
  readonly #watchers = new Set<Watcher>();
  #cancel = (): void => undefined;

  static open(options: TokenBookOptions): TokenBook {
    const book = new TokenBook(options);
    book.#prune();
    book.#arm();
    return book;
  }

  private constructor(options: TokenBookOptions) {
    this.#o = options;
    for (const token of options.store.tokens.all()) this.#keep(token);
  }

  /** What the token with this SHA-256 gives; undefined for one that was never made or is revoked. Fault auth/expired. */
  find(digest: Buffer): Grant | undefined {
    const entry = this.#byDigest.get(digest.toString("hex"));
    if (!entry || !timingSafeEqual(entry.digest, digest)) return undefined;
    const nowMs = this.#o.clock.now();
    if (isExpired(entry.token, nowMs)) throw expired();
    this.#touch(entry, nowMs);
    return entry.grant;
  }

  /** Why a token that was let in may not go on; undefined while it may. */
  refusal(tokenId: string): Fault | undefined {
    const entry = this.#byId.get(tokenId);
    if (!entry) return revoked();
    return isExpired(entry.token, this.#o.clock.now()) ? expired() : undefined;
  }

  /** Calls when a token stops being valid; returns the function that takes it back. */
  watch(on: Watcher): () => void {
    this.#watchers.add(on);
    return () => {
      this.#watchers.delete(on);
    };
  }

  /** The text is nowhere but in this answer. */
  create(wanted: NewToken): { token: StoredToken; text: string } {
    this.#prune();
    if (this.#byId.size >= TOKENS_MOST) {
      throw new Fault("daemon/overloaded", `${TOKENS_MOST} tokens exist, which is the bound; revoke some.`);
    }
    const text = `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString("base64url")}`;
    const createdAtMs = this.#o.clock.now();
    const token: StoredToken = {
      id: randomUUID(),
      digest: hash("sha256", text, "hex"),
      ...(wanted.label !== undefined && { label: wanted.label }),
      ...(wanted.chatId !== undefined && { chatId: wanted.chatId }),
      readOnly: wanted.readOnly,
      descendants: wanted.descendants,
      createdAtMs,
      ...(wanted.expiresInMs !== undefined && { expiresAtMs: createdAtMs + wanted.expiresInMs }),
    };
    this.#o.store.tokens.add(token);
    this.#keep(token);
    this.#arm();
    this.#o.log.info("token was made", { token_id: token.id, label: token.label, chat_id: token.chatId });
    return { token, text };
  }

  /** Oldest first; those that expired lately are among them. */
  list(): { token: StoredToken; isExpired: boolean }[] {
    const nowMs = this.#o.clock.now();
    return [...this.#byId.values()].map(({ token }) => ({ token, isExpired: isExpired(token, nowMs) }));
  }

  /** Fault token/not-found. */
  revoke(id: string): void {
    const entry = this.#byId.get(id);
    if (!entry) throw new Fault("token/not-found", `No token has the id "${id}".`);
    this.#o.store.tokens.remove(id);
    this.#forget(entry);
    this.#o.log.info("token was revoked", { token_id: id, label: entry.token.label });
    this.#end(entry, revoked());
  }

  close(): void {
    this.#cancel();
    this.#watchers.clear();
  }

  #keep(token: StoredToken): void {
    const { id, chatId, descendants, readOnly } = token;
    const scope = chatId === undefined ? ({ kind: "all" } as const) : ({ kind: "chat", chatId, descendants } as const);
    const digest = Buffer.from(token.digest, "hex");
    const entry: Entry = { token, digest, grant: { scope, readOnly, tokenId: id }, isOver: false };
    this.#byDigest.set(token.digest, entry);
    this.#byId.set(id, entry);
  }

  #forget({ token }: Entry): void {
    this.#byDigest.delete(token.digest);
    this.#byId.delete(token.id);
  }

  #touch(entry: Entry, nowMs: number): void {
    const { id, lastUsedAtMs } = entry.token;
    if (lastUsedAtMs !== undefined && nowMs - lastUsedAtMs < USED_STEP_MS) return;
    entry.token = { ...entry.token, lastUsedAtMs: nowMs };
    try {
      this.#o.store.tokens.touch(id, nowMs);
    } catch (error) {
      this.#o.log.warn("the last use of a token could not be written", { token_id: id, error });
    }
  }

  #end(entry: Entry, why: Fault): void {
    if (entry.isOver) return;
    entry.isOver = true;
    for (const on of Array.from(this.#watchers)) on(entry.token.id, why);
  }

  /** One timer for whichever expires next. */
  #arm(): void {
    this.#cancel();
    const nowMs = this.#o.clock.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { token, isOver } of this.#byId.values()) {
      if (!isOver && token.expiresAtMs !== undefined) nextMs = Math.min(nextMs, token.expiresAtMs);
    }
    if (nextMs === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.min(Math.max(0, nextMs - nowMs), LOOK_MOST_MS);
    this.#cancel = this.#o.clock.after(waitMs, () => this.#expire());
  }

  #expire(): void {
    const nowMs = this.#o.clock.now();
    for (const entry of this.#byId.values()) if (isExpired(entry.token, nowMs)) this.#end(entry, expired());
    this.#prune();
    this.#arm();
  }

  #prune(): void {
    const beforeMs = this.#o.clock.now() - EXPIRED_KEEP_MS;
    for (const entry of Array.from(this.#byId.values())) {
      if (!isExpired(entry.token, beforeMs)) continue;
      this.#o.store.tokens.remove(entry.token.id);
      this.#forget(entry);
    }
  }
}

function isExpired({ expiresAtMs }: StoredToken, nowMs: number): boolean {
  return expiresAtMs !== undefined && nowMs >= expiresAtMs;
}

/** Short enough for the reason of a WebSocket's close (RFC 6455: 123 bytes). */
function revoked(): Fault {
  return new Fault("auth/wrong-token", "This token was revoked.");
}

function expired(): Fault {
  return new Fault("auth/expired", "This token has expired; make a new one with `drover token create`.");
}
