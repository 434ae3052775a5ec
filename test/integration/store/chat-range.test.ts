import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChatId } from "../../../src/contract/index.ts";
import { Store } from "../../../src/store/index.ts";
import { metaOf } from "../../unit/native/meta-of.ts";
import { endedAt, factsOf } from "../../unit/store/facts-of.ts";
import { quiet, temporaryHome } from "../native/home.ts";

const parent = "11111111-1111-4111-8111-111111111111" as ChatId;
const child = "22222222-2222-4222-8222-222222222222" as ChatId;
const other = "33333333-3333-4333-8333-333333333333" as ChatId;

let home: string;
let store: Store;
let remove: () => void;
const openStore = () => Store.open(home, { log: quiet, now: Date.now });

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  store = openStore();
});
afterEach(() => {
  store.close();
  remove();
});

const metas = [
  metaOf({ seq: 1, chat_id: parent }),
  metaOf({ seq: 2, chat_id: child, ancestor_chat_ids: [parent] }),
  metaOf({ seq: 3, chat_id: other, ancestor_chat_ids: [child] }),
  metaOf({ seq: 4 }),
];
const seqs = (descendants: boolean) =>
  store.processes.page({ within: { chat: parent, descendants }, limit: 10 }).map(({ meta }) => meta.seq);

describe("a range of chats", () => {
  it("holds one chat, or with it those that name it as an ancestor", () => {
    for (const meta of metas) {
      store.processes.save(meta, factsOf(), 0);
      store.processes.save(meta, endedAt(1_000), 0);
    }
    expect(seqs(false)).toEqual([1]);
    expect(seqs(true)).toEqual([2, 1]);
    expect(store.processes.countEnded({ within: { chat: parent, descendants: true } })).toBe(2);
    store.processes.remove(metas[1]?.id ?? "");
    expect(seqs(true)).toEqual([1]);
  });

  it("holds events the same way, also when the process is gone", () => {
    const shared = { at: new Date(0).toISOString(), machine_id: "m", data: {} };
    store.events.append([
      { ...shared, type: "process.started", chat_id: parent },
      { ...shared, type: "process.removed", chat_id: child, ancestor_chat_ids: [parent] },
      { ...shared, type: "process.started", chat_id: other, ancestor_chat_ids: [child] },
      { ...shared, type: "daemon.started" },
    ]);
    const found = (descendants: boolean) => store.events.after(0, { within: { chat: parent, descendants } }, 10);
    expect(found(false).map(({ seq }) => seq)).toEqual([1]);
    expect(found(true).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(found(true)[1]?.ancestor_chat_ids).toEqual([parent]);
    expect(store.events.after(0, { chat: child, within: { chat: parent, descendants: false } }, 10)).toEqual([]);
  });

  it("is known of processes from before there were ranges", () => {
    for (const meta of metas) store.processes.save(meta, factsOf(), 0);
    store.close();
    const old = new DatabaseSync(join(home, "drover.db"));
    old.exec(`
      DROP TABLE tokens; DROP TABLE process_ancestors; DROP TABLE IF EXISTS git_paths;
      ALTER TABLE events DROP COLUMN ancestors; PRAGMA user_version = 1`);
    old.close();
    store = openStore();
    expect(seqs(true)).toEqual([2, 1]);
  });
});
