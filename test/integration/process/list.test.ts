import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Fault } from "../../../src/contract/index.ts";
import type { ProcessRecord, Supervisor } from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
const one = "11111111-1111-4111-8111-111111111111";
const two = "22222222-2222-4222-8222-222222222222";
let home: TestHome;
let supervisor: Supervisor;

beforeEach(async () => {
  home = new TestHome();
  supervisor = await home.open();
});
afterEach(() => home[Symbol.asyncDispose]());

async function start(command: string, chat?: string, label?: string): Promise<ProcessRecord> {
  const { record } = await supervisor.start({ command, ...(label && { label }) }, caller(chat));
  if (!command.startsWith("sleep")) await record.waitEnd(never);
  return record;
}

const seqs = (records: readonly ProcessRecord[]) => records.map((r) => r.meta.seq);

describe("list", () => {
  test("shows every running one first, newest first, and fills up to ten with ended ones", async () => {
    for (let i = 0; i < 9; i++) await start("true");
    for (let i = 0; i < 4; i++) await start("sleep 30");
    const page = supervisor.list({}, caller());
    expect(seqs(page.records)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4]);
    expect(page.hidden).toBe(3);
  });

  test("pages through everything without a double or a hole", async () => {
    for (let i = 0; i < 7; i++) await start(i % 3 === 0 ? "sleep 30" : "true");
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = supervisor.list({ limit: 2, all: true, ...(cursor && { cursor }) }, caller());
      seen.push(...seqs(page.records));
      cursor = page.next;
    } while (cursor);
    expect(seen).toEqual([7, 4, 1, 6, 5, 3, 2]);
    expect(() => supervisor.list({ cursor: "nonsense" }, caller())).toThrow(Fault);
  });

  test("finds by label and by the beginning of an id", async () => {
    const a = await start("sleep 30", undefined, "web");
    await start("true", undefined, "api");
    expect(supervisor.list({ label: "web" }, caller()).records.map((r) => r.id)).toEqual([a.id]);
    expect(supervisor.list({ prefix: a.id.slice(0, 8) }, caller()).records.map((r) => r.id)).toEqual([a.id]);
  });

  // Promise: apart
  test("keeps chats apart", async () => {
    const mine = await start("true", one);
    const other = await start("sleep 30", two);
    const nobodys = await start("true");
    expect(seqs(supervisor.list({}, caller(one)).records)).toEqual([mine.meta.seq]);
    expect(supervisor.list({}, caller()).records).toHaveLength(3);
    expect(supervisor.find(other.id, caller(one))).toBeUndefined();
    expect(supervisor.find(nobodys.id, caller(one))?.id).toBe(nobodys.id);
    expect(() => supervisor.get(other.id, caller(one))).toThrow(`Process "${other.id}" not found.`);
  });
});

describe("retention", () => {
  test("keeps the newest of each chat and never what runs", async () => {
    await home.close();
    supervisor = await home.open({ keep_per_chat: 2 });
    const running = await start("sleep 30", one);
    const ended = [
      await start("true", one),
      await start("true", one),
      await start("true", one),
      await start("true", two),
    ];
    await home.close();
    supervisor = await home.open({ keep_per_chat: 2 });
    await until("the oldest is gone", () => supervisor.find(ended[0]?.id ?? "", caller()) === undefined);
    expect(supervisor.list({ all: true }, caller()).records).toHaveLength(4);
    expect(supervisor.get(running.id, caller()).running).toBe(true);
    expect(supervisor.dirs.list()).toHaveLength(4);
  });

  test("removes the oldest logs when they are too big together", async () => {
    await home.close();
    supervisor = await home.open({ log_total_bytes: 2 << 20 });
    const big = "head -c 900000 /dev/zero";
    const first = await start(big);
    await start(big);
    const last = await start(big);
    await home.close();
    supervisor = await home.open({ log_total_bytes: 2 << 20 });
    await until("the oldest is gone", () => supervisor.find(first.id, caller()) === undefined);
    expect(supervisor.find(last.id, caller())).toBeDefined();
    await until("it is told", () => supervisor.events.after(0, { types: ["process.removed"] }, 10).length > 0);
  });
});
