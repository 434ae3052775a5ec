import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Hint, HintReader } from "../../../src/native/index.ts";
import { HINT_BYTES, HINT_MAGIC } from "../../../src/native/protocol.ts";
import { temporaryHome, until } from "./home.ts";

let home: string;
let remove: () => void;
beforeEach(() => {
  ({ home, remove } = temporaryHome());
});
afterEach(() => remove());

function record(pid: number): Buffer {
  const bytes = Buffer.alloc(HINT_BYTES);
  bytes.writeUInt32LE(HINT_MAGIC, 0);
  bytes.writeUInt16LE(3, 4);
  bytes.writeUInt32LE(pid, 24);
  return bytes;
}

describe("the FIFO of hints", () => {
  it("is private, outlives its reader and skips garbage", async () => {
    const fifo = join(home, "hints");
    const hints: Hint[] = [];
    const open = () => HintReader.open(home, (hint) => hints.push(hint));
    const first = open();
    expect(statSync(fifo).mode & 0o777).toBe(0o600);
    const { ino } = statSync(fifo);
    appendFileSync(fifo, Buffer.concat([Buffer.from("garbage"), record(1), record(2)]));
    await until(() => hints.length === 2);
    first.close();
    const second = open();
    expect(statSync(fifo).ino).toBe(ino);
    appendFileSync(fifo, record(3));
    await until(() => hints.length === 3);
    second.close();
    expect(hints.map(({ pid }) => pid)).toEqual([1, 2, 3]);
  });

  it("takes thousands of hints from many writers", async () => {
    const seen = new Set<number>();
    const reader = HintReader.open(home, (hint) => seen.add(hint.pid));
    for (let pid = 1; pid <= 2_000; pid++) {
      appendFileSync(join(home, "hints"), record(pid));
      if (pid % 500 === 0) await until(() => seen.size === pid);
    }
    reader.close();
  });

  it("is refused when something else has its name", () => {
    writeFileSync(join(home, "hints"), "");
    expect(() => HintReader.open(home, () => {})).toThrow(expect.objectContaining({ code: "daemon/home-unusable" }));
  });
});
