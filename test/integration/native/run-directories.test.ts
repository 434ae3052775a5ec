import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ProcessId } from "../../../src/contract/index.ts";
import { RunDirectories } from "../../../src/native/index.ts";
import { metaOf } from "../../unit/native/meta-of.ts";
import { temporaryHome } from "./home.ts";
import { smallDisk } from "./small-disk.ts";

let home: string;
let remove: () => void;
let dirs: RunDirectories;

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  dirs = RunDirectories.open(home);
});
afterEach(() => {
  dirs.close();
  remove();
});

describe("run directories", () => {
  it("hold the meta of a launch, readable by the owner alone", () => {
    const meta = metaOf();
    dirs.create(meta);
    expect(dirs.readMeta(meta.id)).toEqual(meta);
    expect(statSync(dirs.path(meta.id)).mode & 0o777).toBe(0o700);
    expect(statSync(join(dirs.path(meta.id), "meta")).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "run")).mode & 0o777).toBe(0o700);
  });

  it("list ids and nothing else", () => {
    const meta = metaOf();
    dirs.create(meta);
    mkdirSync(join(home, "run", "lost+found"));
    expect(dirs.list()).toEqual([meta.id]);
  });

  it("are never made twice for one id", () => {
    const meta = metaOf();
    dirs.create(meta);
    expect(() => dirs.create(meta)).toThrow("EEXIST");
    expect(dirs.readMeta(meta.id)).toEqual(meta);
  });

  it("say what is wrong with a meta", () => {
    const meta = metaOf();
    dirs.create(meta);
    truncateSync(join(dirs.path(meta.id), "meta"), 20);
    expect(() => dirs.readMeta(meta.id)).toThrow("meta is not JSON");
    expect(() => dirs.readMeta("00000000-0000-4000-8000-000000000000" as ProcessId)).toThrow("meta cannot be read");
  });

  it("are claimed once: by the daemon or by a shim", () => {
    const [ours, theirs] = [metaOf(), metaOf()];
    dirs.create(ours);
    dirs.create(theirs);
    expect(dirs.hasClaim(ours.id)).toBeUndefined();
    expect(dirs.claimVoid(ours.id)).toBe(true);
    expect(dirs.claimVoid(ours.id)).toBe(true);
    expect(dirs.hasClaim(ours.id)).toBe("void");
    writeFileSync(join(dirs.path(theirs.id), "claim"), "started 12 34\n");
    expect(dirs.claimVoid(theirs.id)).toBe(false);
    expect(dirs.hasClaim(theirs.id)).toBe("started");
  });

  it("have no state before a shim wrote one, and say when it is corrupt", () => {
    const meta = metaOf();
    dirs.create(meta);
    expect(dirs.readState(meta.id)).toBeUndefined();
    writeFileSync(join(dirs.path(meta.id), "state"), "");
    expect(dirs.readState(meta.id)).toBeUndefined();
    writeFileSync(join(dirs.path(meta.id), "state"), Buffer.alloc(4096, 7));
    expect(() => dirs.readState(meta.id)).toThrow("state file has no header");
  });

  it("are removed whole, and a removal that was cut short is finished at the next open", () => {
    const meta = metaOf();
    dirs.create(meta);
    expect(dirs.diskBytes(meta.id)).toBeGreaterThan(0);
    dirs.remove(meta.id);
    dirs.remove(meta.id);
    expect(dirs.list()).toEqual([]);
    expect(dirs.diskBytes(meta.id)).toBe(0);
    const half = join(home, "run", `.gone-${meta.id}`);
    mkdirSync(half);
    RunDirectories.open(home).close();
    expect(existsSync(half)).toBe(false);
  });

  it("are quarantined with the reason, even twice", () => {
    const meta = metaOf();
    for (const why of ["first", "second"]) {
      dirs.create(meta);
      dirs.quarantine(meta.id, why);
    }
    expect(dirs.list()).toEqual([]);
    expect(readFileSync(join(home, "quarantine", meta.id, "why"), "utf8")).toBe("first\n");
    expect(readFileSync(join(home, "quarantine", `${meta.id}.2`, "why"), "utf8")).toBe("second\n");
  });

  it("leave nothing behind when the disk is full", ({ skip }) => {
    const disk = smallDisk(home, "64k");
    if (!disk) return skip("a small disk can only be mounted by root: run the tests as root in a container");
    const full = RunDirectories.open(disk.path);
    try {
      const made: string[] = [];
      const fill = () => {
        for (let i = 0; i < 1_000; i++) {
          const meta = metaOf({ command: "x".repeat(6_000) });
          full.create(meta);
          made.push(meta.id);
        }
      };
      expect(fill).toThrow(expect.objectContaining({ code: "store/disk-full" }));
      expect(made.length).toBeGreaterThan(0);
      expect(full.list().sort()).toEqual(made.sort());
    } finally {
      full.close();
      disk.remove();
    }
  });

  it("cannot be opened where there is a file", () => {
    writeFileSync(join(home, "file"), "");
    expect(() => RunDirectories.open(join(home, "file"))).toThrow(
      expect.objectContaining({ code: "daemon/home-unusable" }),
    );
  });
});
