import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Store } from "../../../src/store/index.ts";
import { metaOf } from "../../unit/native/meta-of.ts";
import { factsOf } from "../../unit/store/facts-of.ts";
import { quiet, temporaryHome } from "../native/home.ts";
import { smallDisk } from "../native/small-disk.ts";

let home: string;
let remove: () => void;
const open: Store[] = [];
const now = () => 1_800_000_000_000;

function openStore(at = home): Store {
  const store = Store.open(at, { log: quiet, now });
  open.push(store);
  return store;
}
function closeAll(): void {
  for (const store of open.splice(0)) store.close();
}

beforeEach(() => {
  ({ home, remove } = temporaryHome());
});
afterEach(() => {
  closeAll();
  remove();
});

describe("the store", () => {
  it("gives a home its id once", () => {
    const first = openStore().machine();
    expect(first).toMatchObject({ created: true, id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/) });
    closeAll();
    expect(openStore().machine()).toEqual({ id: first.id, created: false });
  });

  it("is readable by the owner alone, its log included", () => {
    const store = openStore();
    store.machine();
    for (const name of ["drover.db", "drover.db-wal", "drover.db-shm"])
      expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
  });

  it("writes ahead, so that kill -9 loses no commit", () => {
    openStore().machine();
    const other = new DatabaseSync(join(home, "drover.db"), { timeout: 100 });
    expect({ ...other.prepare("PRAGMA journal_mode").get() }).toEqual({ journal_mode: "wal" });
    other.close();
  });

  it("takes all of a transaction or nothing", () => {
    const store = openStore();
    const [first, second] = [metaOf(), metaOf()];
    const work = () =>
      store.transact(() => {
        store.processes.save(first, factsOf(), 0);
        store.transact(() => store.processes.save(second, factsOf(), 0));
        throw new Error("no");
      });
    expect(work).toThrow("no");
    expect(store.processes.ids()).toEqual(new Set());
    store.transact(() => store.processes.save(first, factsOf(), 0));
    expect(store.processes.ids()).toEqual(new Set([first.id]));
  });

  it.each([
    ["garbage", () => Buffer.alloc(20_000, "no database ")],
    ["a damaged page", () => damage(readFileSync(join(home, "drover.db")))],
  ])("moves a file with %s aside and begins a new one", (_title, bytes) => {
    const store = openStore();
    for (let i = 0; i < 200; i++) store.processes.save(metaOf({ seq: i, label: `label ${i}` }), factsOf(), 0);
    store.events.append([event()]);
    closeAll();
    writeFileSync(join(home, "drover.db"), bytes());
    const rebuilt = openStore();
    expect(rebuilt.rebuilt).toBe(true);
    expect(rebuilt.processes.ids().size).toBe(0);
    expect(readdirSync(home)).toContain(`drover.db.corrupt-${now()}`);
    expect(rebuilt.machine().created).toBe(true);
    expect(rebuilt.events.bounds()).toEqual({ oldest: now() + 1, newest: now() });
    expect(rebuilt.events.append([event()])[0]?.seq).toBe(now() + 1);
    closeAll();
    expect(openStore().rebuilt).toBe(false);
  });

  it("refuses a file of a newer Drover and leaves it alone", () => {
    openStore().machine();
    closeAll();
    const other = new DatabaseSync(join(home, "drover.db"));
    other.exec("PRAGMA user_version = 999");
    other.close();
    expect(() => openStore()).toThrow(expect.objectContaining({ code: "store/newer" }));
    expect(existsSync(join(home, `drover.db.corrupt-${now()}`))).toBe(false);
  });

  it("says when the home cannot be used", () => {
    expect(() => openStore(join(home, "missing"))).toThrow(expect.objectContaining({ code: "daemon/home-unusable" }));
    mkdirSync(join(home, "odd", "drover.db"), { recursive: true });
    expect(() => openStore(join(home, "odd"))).toThrow(expect.objectContaining({ code: "daemon/home-unusable" }));
  });

  it("says when the file may not be opened", () => {
    openStore().machine();
    closeAll();
    chmodSync(join(home, "drover.db"), 0);
    const isRoot = process.geteuid?.() === 0; // who may open everything
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(() => openStore()).toThrow(expect.objectContaining({ code: "daemon/home-unusable" }));
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  it("says when the disk is full, keeps what it has, and goes on afterwards", async ({ skip }) => {
    const disk = smallDisk(home, "600k");
    if (!disk) return skip("a small disk can only be mounted by root: run the tests as root in a container");
    try {
      const store = openStore(disk.path);
      const saved = [];
      const fill = () => {
        for (let seq = 1; seq < 5_000; seq++) {
          const meta = metaOf({ seq, command: "x".repeat(2_000) });
          store.processes.save(meta, factsOf(), 0);
          saved.push(meta.id);
        }
      };
      expect(fill).toThrow(expect.objectContaining({ code: "store/disk-full" }));
      expect(saved.length).toBeGreaterThan(0);
      expect(store.processes.ids().size).toBe(saved.length);
      disk.resize("8m");
      store.processes.save(metaOf({ seq: 9_999 }), factsOf(), 0);
      expect(store.processes.maxSeq()).toBe(9_999);
      store.close();
      open.pop();
    } finally {
      disk.remove();
    }
  });
});

function event() {
  return { type: "process.started" as const, at: new Date(0).toISOString(), machine_id: "m", data: {} };
}

/** Every page but the first is overwritten in its middle. */
function damage(file: Buffer): Buffer {
  for (let at = 4096; at < file.length; at += 4096) file.fill(0xff, at, at + 200);
  return file;
}
