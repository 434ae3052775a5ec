import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ChatId } from "../../../src/contract/index.ts";
import { Store } from "../../../src/store/index.ts";
import { type NewToken, TokenBook } from "../../../src/tokens/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { quiet, temporaryHome } from "../native/home.ts";

const chatId = "11111111-1111-4111-8111-111111111111" as ChatId;
const plain: NewToken = { readOnly: false, descendants: false };
const DAY_MS = 86_400_000;
let home: string;
let remove: () => void;
let clock: FakeClock;
let store: Store;
let book: TokenBook;

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  clock = new FakeClock();
  open();
});
afterEach(() => {
  close();
  remove();
});

function open(): void {
  store = Store.open(home, { log: quiet, now: () => clock.now() });
  book = TokenBook.open({ store, clock, log: quiet });
}
function close(): void {
  book.close();
  store.close();
}

const digest = (text: string) => createHash("sha256").update(text).digest();
const find = (text: string) => book.find(digest(text));
const codeOf = (call: () => unknown) => {
  try {
    return call();
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("the token book", () => {
  test("gives what was asked for, also after a restart", () => {
    const all = book.create({ ...plain, label: "ci" });
    const one = book.create({ chatId, readOnly: true, descendants: true });
    for (let i = 0; i < 2; i++) {
      expect(find(all.text)).toEqual({ scope: { kind: "all" }, readOnly: false, tokenId: all.token.id });
      expect(find(one.text)).toEqual({
        scope: { kind: "chat", chatId, descendants: true },
        readOnly: true,
        tokenId: one.token.id,
      });
      close();
      open();
    }
    expect(find(`${all.text}x`)).toBeUndefined();
    expect(book.list().map(({ token }) => token.label)).toEqual(["ci", undefined]);
  });

  test("keeps the digest and nowhere the token", () => {
    const { text, token } = book.create({ ...plain, label: "secret" });
    expect(text).toMatch(/^drover_[\w-]{43}$/);
    find(text);
    const secret = text.slice("drover_".length);
    // By another process: a file that is read and closed here would lose SQLite's locks on it.
    const holds = (what: string) =>
      execFileSync("sh", ["-c", 'grep -rlF -- "$1" "$2" || true', "sh", what, home]).toString();
    expect(holds(secret)).toBe("");
    expect(holds(token.digest)).not.toBe("");
    close();
    for (const name of readdirSync(home)) {
      const bytes = readFileSync(join(home, name));
      expect([name, bytes.includes(secret), bytes.includes(Buffer.from(secret, "base64url"))]).toEqual([
        name,
        false,
        false,
      ]);
    }
    expect(token.digest).toBe(digest(text).toString("hex"));
    open();
  });

  test("two are never alike", () => {
    const texts = Array.from({ length: 100 }, () => book.create(plain).text);
    expect(new Set(texts).size).toBe(100);
  });

  test("refuses what is revoked from that moment on, and says so to those who watch", () => {
    const told: string[] = [];
    book.watch((id, why) => told.push(`${id} ${why.code}`));
    const { text, token } = book.create(plain);
    expect(book.refusal(token.id)).toBeUndefined();
    book.revoke(token.id);
    expect(find(text)).toBeUndefined();
    expect(book.refusal(token.id)?.code).toBe("auth/wrong-token");
    expect(told).toEqual([`${token.id} auth/wrong-token`]);
    expect(codeOf(() => book.revoke(token.id))).toBe("token/not-found");
    close();
    open();
    expect(find(text)).toBeUndefined();
  });

  test("ends a token at its time, to the millisecond, and tells once", () => {
    const told: string[] = [];
    book.watch((id, why) => told.push(`${id} ${why.code}`));
    const later = book.create({ ...plain, expiresInMs: 40 * DAY_MS });
    const soon = book.create({ ...plain, expiresInMs: 5_000 });
    clock.pass(4_999);
    expect(find(soon.text)).toBeDefined();
    expect(told).toEqual([]);
    clock.pass(1);
    expect(codeOf(() => find(soon.text))).toBe("auth/expired");
    expect(book.refusal(soon.token.id)?.code).toBe("auth/expired");
    expect(told).toEqual([`${soon.token.id} auth/expired`]);
    clock.pass(DAY_MS);
    expect(told).toHaveLength(1);
    expect(find(later.text)).toBeDefined();
    // Further ahead than a timer can be set.
    clock.pass(40 * DAY_MS);
    expect(told).toEqual([`${soon.token.id} auth/expired`, `${later.token.id} auth/expired`]);
  });

  test("one that expired while nobody ran is refused at once", () => {
    const { text } = book.create({ ...plain, expiresInMs: 1_000 });
    close();
    clock.pass(1_000);
    open();
    expect(codeOf(() => find(text))).toBe("auth/expired");
  });

  test("an expired one is listed for a month and then forgotten", () => {
    const { token } = book.create({ ...plain, expiresInMs: 1_000 });
    clock.pass(DAY_MS);
    expect(book.list()).toMatchObject([{ token: { id: token.id }, isExpired: true }]);
    clock.pass(30 * DAY_MS);
    close();
    open();
    expect(book.list()).toEqual([]);
    expect(store.tokens.all()).toEqual([]);
  });

  test("remembers the last use to the minute, without a write for every request", () => {
    const { text, token } = book.create(plain);
    const used = () => store.tokens.all().find((t) => t.id === token.id)?.lastUsedAtMs;
    expect(used()).toBeUndefined();
    find(text);
    const first = clock.now();
    expect(used()).toBe(first);
    clock.pass(59_999);
    find(text);
    expect(used()).toBe(first);
    clock.pass(1);
    find(text);
    expect(used()).toBe(first + 60_000);
    expect(book.list()[0]?.token.lastUsedAtMs).toBe(first + 60_000);
  });

  test("a use that cannot be written keeps nobody out", () => {
    const { text } = book.create(plain);
    store.close();
    expect(find(text)).toBeDefined();
    store = Store.open(home, { log: quiet, now: () => clock.now() });
  });
});
