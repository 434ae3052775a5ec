import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ProcessId } from "../../../src/contract/index.ts";
import { LogFile } from "../../../src/native/index.ts";
import { NativeHome, until } from "./home.ts";

let at: NativeHome;
const open: LogFile[] = [];

function openLog(id: ProcessId): LogFile {
  const log = LogFile.open(at.dirs, id);
  if (!log) throw new Error("no byte yet");
  open.push(log);
  return log;
}

/** Lines of 16 bytes that say their own offset. */
const numbered = (lines: number) =>
  `i=0; while [ $i -lt ${lines} ]; do printf '%015d\\n' $((i * 16)); i=$((i + 1)); done`;
/** The same, quickly. */
const numberedFast = (lines: number) => `awk 'BEGIN { for (i = 0; i < ${lines}; i++) printf "%015d\\n", i * 16 }'`;

/** Everything that is kept, each line checked against its offset. */
function readAll(log: LogFile): [number, number][] {
  const kept: [number, number][] = [];
  const end = log.end();
  for (let from = 0; from < end; ) {
    const part = log.read(from, Math.min(from + 100_000, end));
    if (part.data.length === 0 && part.from <= from) throw new Error(`stuck at ${from}`);
    expect(part.to - part.from).toBe(part.data.length);
    for (let i = (16 - (part.from % 16)) % 16; i + 16 <= part.data.length; i += 16) {
      if (Number(part.data.toString("latin1", i, i + 15)) !== part.from + i)
        throw new Error(`wrong bytes at ${part.from + i}`);
    }
    const last = kept.at(-1);
    if (last?.[1] === part.from) last[1] = part.to;
    else if (part.data.length > 0) kept.push([part.from, part.to]);
    from = Math.max(part.to, from);
  }
  return kept;
}

beforeEach(async () => {
  at = await NativeHome.open();
});
afterEach(async () => {
  for (const log of open.splice(0)) log.close();
  await at.close();
});

describe("a log", () => {
  it("does not exist before the first byte", async () => {
    const id = at.launch("sleep 60");
    await at.hint(id, "started");
    expect(LogFile.open(at.dirs, id)).toBeUndefined();
  });

  it("is read while it grows", async () => {
    const id = at.launch("echo one; read x; echo two", { stdin: "open" });
    const log = await until(() => LogFile.open(at.dirs, id));
    open.push(log);
    await until(() => log.end() === 4);
    expect(log.read(0, 100)).toMatchObject({ from: 0, to: 4, data: Buffer.from("one\n") });
    expect(log.read(4, 100)).toMatchObject({ from: 4, to: 4 });
    expect(log.read(2, 3).data.toString()).toBe("e");
    expect(log.dropped()).toEqual([]);
  });

  it.each([
    ["one sparse file", false],
    ["segments", true],
  ])("in %s keeps its head and a ring, and names what is gone", async (_title, logSegments) => {
    const size = 16 * 100_000;
    const id = at.launch(numberedFast(100_000), { logHead: 65_536, logRing: 262_144, logSegments });
    await at.hint(id, "ended");
    const log = openLog(id);
    expect(log.end()).toBe(size);
    const [gap, ...others] = log.dropped();
    expect(others).toEqual([]);
    expect(gap?.[0]).toBe(65_536);
    expect(size - (gap?.[1] ?? 0)).toBeGreaterThanOrEqual(262_144);
    expect(readAll(log)).toEqual([
      [0, 65_536],
      [gap?.[1], size],
    ]);
    expect(log.read(100_000, 100_001).from).toBe(gap?.[1]);
    expect(log.read(65_000, 70_000)).toMatchObject({ from: 65_000, to: 65_536 });
    expect(at.dirs.readState(id)?.header.logSegment === 0).toBe(!logSegments);
    expect(at.dirs.diskBytes(id)).toBeLessThan(600_000);
  });

  it.each([
    ["one sparse file", false],
    ["segments", true],
  ])("in %s never gives wrong bytes while the ring turns", async (_title, logSegments) => {
    const id = at.launch(numberedFast(1_500_000), { logHead: 4096, logRing: 65_536, logSegments });
    const log = await until(() => LogFile.open(at.dirs, id));
    open.push(log);
    let reads = 0;
    while (!at.hints.some((hint) => hint.id === id && hint.kind === "ended")) {
      const end = log.end();
      const part = log.read(Math.max(0, end - 65_536 - (reads++ % 7) * 8192), end);
      for (let i = (16 - (part.from % 16)) % 16; i + 16 <= part.data.length; i += 16) {
        if (Number(part.data.toString("latin1", i, i + 15)) !== part.from + i)
          throw new Error(`wrong bytes at ${part.from + i}`);
      }
      await new Promise(setImmediate);
    }
    readAll(log);
    expect(log.end()).toBe(24_000_000);
  });

  it("tells which stream wrote what, and when", async () => {
    const before = Date.now();
    const id = at.launch("printf out; sleep 0.2; printf err >&2; sleep 0.2; printf again", { split: true });
    await at.hint(id, "ended");
    const log = openLog(id);
    const parts = log.streamsOf(1, 9);
    expect(parts.map(({ from, to, stream }) => [from, to, stream])).toEqual([
      [1, 3, "stdout"],
      [3, 6, "stderr"],
      [6, 9, "stdout"],
    ]);
    for (const { atMs } of parts) expect(Math.abs(atMs - before)).toBeLessThan(60_000);
    expect(log.streamsOf(4, 5).map(({ from, to, stream }) => [from, to, stream])).toEqual([[4, 5, "stderr"]]);
    rmSync(join(at.dirs.path(id), "index"));
    expect(openLog(id).streamsOf(0, 9)).toEqual([]);
  });

  it("that was cut by somebody else ends in a gap, not in a loop", async () => {
    const id = at.launch(numbered(50), { logHead: 4096, logRing: 65_536 });
    await at.hint(id, "ended");
    writeFileSync(join(at.dirs.path(id), "log"), "x");
    const log = openLog(id);
    expect(log.end()).toBe(800);
    expect(log.dropped()).toEqual([[1, 800]]);
    expect(log.read(0, 800)).toMatchObject({ from: 0, to: 1 });
    expect(log.read(1, 800)).toMatchObject({ from: 800, to: 800 });
  });
});
