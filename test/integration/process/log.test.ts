import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StartRequest } from "../../../src/contract/index.ts";
import { type ProcessRecord, readLog, readLogBytes, readOutput, type Supervisor } from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { program } from "../../support/real-daemon.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
let home: TestHome;
let supervisor: Supervisor;

beforeEach(async () => {
  home = new TestHome();
  supervisor = await home.open();
});
afterEach(() => home[Symbol.asyncDispose]());

async function ended(request: StartRequest): Promise<ProcessRecord> {
  const { record } = await supervisor.start(request, caller());
  await record.waitEnd(never);
  return record;
}

async function allBytes(record: ProcessRecord, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 0; ; ) {
    const page = await readLog(supervisor, record, { from, limit });
    parts.push(Buffer.from(page.data, page.encoding === "base64" ? "base64" : "utf8"));
    expect(page.next).toBe(page.to);
    if (page.next >= page.end) return Buffer.concat(parts);
    expect(page.next).toBeGreaterThan(from);
    from = page.next;
  }
}

describe("the summary", () => {
  test("pain P5: of a fast command is complete when it says that it has ended", async () => {
    for (let i = 0; i < 50; i++) {
      const { record } = await supervisor.start({ command: `printf 'line %s\\n' ${i}; exit 7` }, caller());
      await record.waitExit(never);
      expect(readOutput(supervisor, record)).toMatchObject({ output: `line ${i}\n`, running: false, exit_code: 7 });
    }
  });

  test("is empty without output", async () => {
    const record = await ended({ command: "true" });
    expect(readOutput(supervisor, record)).toEqual({
      output: "",
      running: false,
      exit_code: 0,
      command: "true",
      log_end: 0,
    });
    expect(await readLog(supervisor, record, {})).toMatchObject({
      from: 0,
      to: 0,
      end: 0,
      next: 0,
      data: "",
      dropped: [],
    });
  });

  test("pain P20: of a log that dropped bytes shows every hole", async () => {
    const record = await ended({ argv: [program("prints-bytes"), "1000000"], log_bytes: 65_536 });
    const { output, truncated } = readOutput(supervisor, record);
    expect(truncated?.original_bytes).toBe(1_000_000);
    const ranges = truncated?.omitted ?? [];
    expect(ranges).toHaveLength(1);
    expect(truncated?.omitted_bytes).toBe((ranges[0]?.[1] ?? 0) - (ranges[0]?.[0] ?? 0));
    expect(output.startsWith("000000000000000\n000000000000001\n")).toBe(true);
    expect(output.endsWith(`${String(1_000_000 / 16 - 1).padStart(15, "0")}\n`)).toBe(true);
  });

  test("pain P21: does not show half a character while the rest is on its way", async () => {
    const { record } = await supervisor.start({ command: "printf 'a\\303'; sleep 60" }, caller());
    await until("it has printed", () => readLogBytes(supervisor, record, {}).end === 2);
    expect(readOutput(supervisor, record).output).toBe("a");
    expect(await readLog(supervisor, record, {})).toMatchObject({ data: "a", to: 1, next: 1, end: 2 });
  });
});

describe("pages of the log", () => {
  test.each([
    ["prints-binary", 1000],
    ["splits-utf8", 4],
    ["splits-utf8", 5],
    ["long-lines", 100_000],
  ])("pain P21: of %s, %i bytes each, are the whole log", async (name, limit) => {
    const record = await ended({ argv: [program(name)] });
    const expected = execFileSync(program(name), { maxBuffer: 1 << 26 });
    expect((await allBytes(record, limit)).equals(expected)).toBe(true);
  });

  test("text pages are text, the limit notwithstanding", async () => {
    const record = await ended({ command: "printf '€€€'" });
    expect(await readLog(supervisor, record, { limit: 5 })).toMatchObject({ data: "€", encoding: "utf-8", next: 3 });
    expect(await readLog(supervisor, record, { limit: 1 })).toMatchObject({ data: "€", next: 3 });
    expect(await readLog(supervisor, record, { from: 1 })).toMatchObject({ encoding: "base64", from: 1, to: 9 });
    expect(await readLog(supervisor, record, { tail: 4 })).toMatchObject({ data: "€", from: 6, to: 9 });
    expect(await readLog(supervisor, record, { from: 3, to: 6 })).toMatchObject({ data: "€", from: 3, next: 6 });
  });

  test("behind the end there is nothing, and the cursor is the end", async () => {
    const record = await ended({ command: "echo abc" });
    expect(await readLog(supervisor, record, { from: 100 })).toMatchObject({
      from: 4,
      to: 4,
      next: 4,
      end: 4,
      data: "",
    });
  });

  test("inside a dropped range begin behind it and say so", async () => {
    const record = await ended({ argv: [program("prints-bytes"), "1000000"], log_bytes: 65_536 });
    const all = await readLog(supervisor, record, {});
    const [gap] = (await readLog(supervisor, record, { from: all.next })).dropped;
    if (!gap) throw new Error("nothing was dropped");
    expect(all.to).toBe(gap[0]);
    const page = await readLog(supervisor, record, { from: gap[0] + 5, limit: 64 });
    expect(page).toMatchObject({ from: gap[1], to: gap[1] + 64, dropped: [gap] });
    expect(page.data).toHaveLength(64);
  });
});

describe("views", () => {
  test("pain P7: a bar of many states is one line of text", async () => {
    const record = await ended({ command: `${program("progress-bar")} 60 1; printf '\\033[31mred\\033[0m\\n'` });
    const { data } = await readLog(supervisor, record, { view: "text" });
    expect(data.split("\n").filter(Boolean)).toHaveLength(3);
    expect(data).toContain("100%\ndone\nred\n");
  });

  test("text pages end with whole lines", async () => {
    const record = await ended({ command: "printf 'one\\ntwo\\nthree\\n'" });
    expect(await readLog(supervisor, record, { view: "text", limit: 6 })).toMatchObject({ data: "one\n", next: 4 });
    expect(await readLog(supervisor, record, { view: "text", to: 6 })).toMatchObject({ data: "one\ntw", next: 6 });
  });

  test("the screen is what a terminal of that size shows", async () => {
    const command = "printf 'a\\nb\\nc\\033[1;1HX'; stty size; sleep 60";
    const { record } = await supervisor.start({ command, tty: true, cols: 40, rows: 10 }, caller());
    const screen = await until("the size is there", async () => {
      const answer = await readLog(supervisor, record, { view: "screen" });
      return answer.data.includes("10 40") ? answer : undefined;
    });
    expect(screen.data).toBe("X10 40\nb\nc");
    expect(screen).toMatchObject({ cols: 40, rows: 10, cursor: { row: 1, col: 0 }, encoding: "utf-8" });
    await supervisor.use(record, (connection) => connection.resize(100, 5));
    expect(await readLog(supervisor, record, { view: "screen" })).toMatchObject({ cols: 100, rows: 5 });
  });

  test("split streams are told apart", async () => {
    const record = await ended({ argv: [program("writes-both"), "50", "2"], streams: "split" });
    const lines = (word: string) => Array.from({ length: 50 }, (_, i) => `${word} ${i + 1}\n`).join("");
    expect((await readLog(supervisor, record, { stream: "stderr" })).data).toBe(lines("err"));
    let out = "";
    for (let from = 0, end = 1; from < end; ) {
      const page = await readLog(supervisor, record, { stream: "stdout", from, limit: 100 });
      out += page.data;
      from = page.next;
      end = page.end;
    }
    expect(out).toBe(lines("out"));
    const merged = await ended({ command: "echo x" });
    await expect(readLog(supervisor, merged, { stream: "stderr" })).rejects.toMatchObject({ code: "request/invalid" });
  });
});
