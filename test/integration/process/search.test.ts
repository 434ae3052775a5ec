import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StartRequest } from "../../../src/contract/index.ts";
import { type ProcessRecord, readLogBytes, type Supervisor, searchLog } from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { program } from "../../support/real-daemon.ts";

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

describe("search", () => {
  test("pain P20: finds lines with their exact bytes and their surroundings", async () => {
    const record = await ended({ command: "printf 'é one\\ntwo\\nTHREE\\r\\nfour\\nfive'" });
    const answer = await searchLog(supervisor, record, { q: "three", ignore_case: true, context: 1 }, never);
    expect(answer).toEqual({
      matches: [{ from: 11, to: 17, line: "THREE", before: ["two"], after: ["four"] }],
      searched: [0, 27],
      dropped: [],
    });
    const all = await searchLog(supervisor, record, { q: "^f.*e$", regex: true }, never);
    expect(all.matches).toMatchObject([{ line: "five", from: 23, to: 27 }]);
  });

  test("a literal is no expression", async () => {
    const record = await ended({ command: "printf 'a.b\\naxb\\n'" });
    expect((await searchLog(supervisor, record, { q: "a.b" }, never)).matches).toHaveLength(1);
    expect((await searchLog(supervisor, record, { q: "a.b", regex: true }, never)).matches).toHaveLength(2);
  });

  test("sees through escape sequences", async () => {
    const record = await ended({ command: "printf 'x\\n\\033[31mer\\033[0mror\\n'" });
    const { matches } = await searchLog(supervisor, record, { q: "error" }, never);
    expect(matches).toMatchObject([{ line: "error", from: 2, to: 16 }]);
  });

  test("goes on where a page ended and misses nothing", async () => {
    const record = await ended({ argv: [program("prints-bytes"), "3200000"] });
    const found: string[] = [];
    let pages = 0;
    for (let from: number | undefined = 0; from !== undefined; pages++) {
      const answer = await searchLog(
        supervisor,
        record,
        { q: "99$", regex: true, from, limit: 1000, context: 2 },
        never,
      );
      for (const match of answer.matches) {
        const bytes = readLogBytes(supervisor, record, { from: match.from, to: match.to }).data;
        expect(bytes.toString()).toBe(match.line);
        const number = Number(match.line);
        expect(match.before.map(Number)).toEqual([number - 2, number - 1]);
        if (number < 199_998) expect(match.after.map(Number)).toEqual([number + 1, number + 2]);
      }
      found.push(...answer.matches.map((match) => match.line));
      from = answer.next;
    }
    expect(pages).toBe(2);
    expect(found).toEqual(Array.from({ length: 2000 }, (_, i) => String(i * 100 + 99).padStart(15, "0")));
  });

  test("says what of the log is gone", async () => {
    const record = await ended({ argv: [program("prints-bytes"), "1000000"], log_bytes: 65_536 });
    const answer = await searchLog(supervisor, record, { q: "062499" }, never);
    expect(answer.matches).toHaveLength(1);
    expect(answer.dropped).toHaveLength(1);
    expect(answer.searched).toEqual([0, 1_000_000]);
  });

  test("an expression that takes for ever is ended, and others are answered meanwhile and afterwards", async () => {
    const record = await ended({ command: `printf '%s!\\n' ${"a".repeat(40)}` });
    const slow = searchLog(supervisor, record, { q: "^(a+)+$", regex: true }, never);
    const quick = searchLog(supervisor, record, { q: "a!" }, never);
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    expect((await quick).matches).toHaveLength(1);
    await expect(slow).rejects.toMatchObject({ code: "regex/too-slow" });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(50);
    expect((await searchLog(supervisor, record, { q: "a!" }, never)).matches).toHaveLength(1);
  });

  test("refuses what does not compile, and too many at once", async () => {
    const record = await ended({ command: "echo x" });
    await expect(searchLog(supervisor, record, { q: "(", regex: true }, never)).rejects.toMatchObject({
      code: "regex/invalid",
    });
    const many = Array.from({ length: 60 }, () => searchLog(supervisor, record, { q: "x" }, never));
    const results = await Promise.allSettled(many);
    expect(results.filter((r) => r.status === "fulfilled").length).toBeGreaterThanOrEqual(32);
    expect(results.filter((r) => r.status === "rejected").every((r) => r.reason.code === "search/busy")).toBe(true);
    expect(results.some((r) => r.status === "rejected")).toBe(true);
  });

  test("of a line longer than a slice ends", async () => {
    const record = await ended({ command: "head -c 3000000 /dev/zero | tr '\\0' x; echo needle" });
    const { matches } = await searchLog(supervisor, record, { q: "needle" }, never);
    expect(matches).toHaveLength(1);
    expect(matches[0]?.line.length).toBe(4096);
    expect(matches[0]?.to).toBe(3_000_006);
  });
});
