import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChatId, EventType, ProcessId } from "../../../src/contract/index.ts";
import { type NewEvent, Store } from "../../../src/store/index.ts";
import { quiet, temporaryHome } from "../native/home.ts";

const red = "11111111-1111-4111-8111-111111111111" as ChatId;
const one = "33333333-3333-4333-8333-333333333333" as ProcessId;

let store: Store;
let home: string;
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

function event(type: EventType, change: Partial<NewEvent> = {}): NewEvent {
  return { type, at: new Date(10_000).toISOString(), machine_id: "m", data: { n: 1 }, ...change };
}
const seqs = (list: { seq: number }[]) => list.map(({ seq }) => seq);

describe("stored events", () => {
  it("are numbered in order and come back as they were", () => {
    const appended = store.events.append([
      event("process.started", { chat_id: red, process_id: one }),
      event("daemon.stopped"),
    ]);
    expect(seqs(appended)).toEqual([1, 2]);
    expect(store.events.after(0, {}, 10)).toEqual(appended);
    expect(seqs(store.events.after(1, {}, 10))).toEqual([2]);
    expect(seqs(store.events.after(0, {}, 1))).toEqual([1]);
  });

  it("are filtered by chat, process and type, all together", () => {
    store.events.append([
      event("process.started", { chat_id: red, process_id: one }),
      event("process.exited", { chat_id: red, process_id: one }),
      event("process.exited", { chat_id: red }),
      event("daemon.started"),
    ]);
    expect(seqs(store.events.after(0, { chat: red }, 10))).toEqual([1, 2, 3]);
    expect(seqs(store.events.after(0, { process: one }, 10))).toEqual([1, 2]);
    expect(seqs(store.events.after(0, { types: ["process.exited", "daemon.started"] }, 10))).toEqual([2, 3, 4]);
    expect(seqs(store.events.after(1, { chat: red, process: one, types: ["process.exited"] }, 10))).toEqual([2]);
    expect(store.events.after(0, { types: [] }, 10)).toEqual([]);
  });

  it("never get a number twice, even when all were pruned and the store was closed", () => {
    store.events.append([event("daemon.started"), event("daemon.stopped")]);
    expect(store.events.prune({ beforeMs: 20_000, keepNewest: 100 })).toBe(2);
    expect(store.events.bounds()).toEqual({ oldest: 3, newest: 2 });
    store.close();
    store = openStore();
    expect(seqs(store.events.append([event("daemon.started")]))).toEqual([3]);
    expect(store.events.bounds()).toEqual({ oldest: 3, newest: 3 });
  });

  it("have no bounds before the first", () => {
    expect(store.events.bounds()).toEqual({ oldest: 1, newest: 0 });
  });

  it("are pruned by age and by number", () => {
    store.events.append(Array.from({ length: 10 }, () => event("process.exited")));
    store.events.append([event("process.exited", { at: new Date(90_000).toISOString() })]);
    expect(store.events.prune({ beforeMs: 0, keepNewest: 5 })).toBe(6);
    expect(store.events.bounds()).toEqual({ oldest: 7, newest: 11 });
    expect(store.events.prune({ beforeMs: 50_000, keepNewest: 5 })).toBe(4);
    expect(seqs(store.events.after(0, {}, 10))).toEqual([11]);
  });
});
