import { describe, expect, test } from "vitest";
import type { ChatId, ProcessFacts, ProcessMeta } from "../../../src/contract/index.ts";
import { configSchema } from "../../../src/contract/schemas.ts";
import { canonical, digestRequest, digestToken } from "../../../src/process/client-token.ts";
import { inheritedVariables, parseVariables } from "../../../src/process/environment.ts";
import { announcements, dueBits, dueEvents } from "../../../src/process/journal.ts";
import { ProcessRecord } from "../../../src/process/record.ts";
import { failedStart, startFault } from "../../../src/process/start-faults.ts";
import { completeSteps } from "../../../src/process/stop.ts";

const facts: ProcessFacts = {
  state: "running",
  started_at_ms: 1,
  leftover_count: 0,
  log_end: 0,
  warnings: [],
  supervised: true,
};
const meta = {
  id: "x",
  machine_id: "m",
  command: "c",
  workdir: "/w",
  exec_path: "/p",
  seq: 1,
} as unknown as ProcessMeta;

describe("client tokens", () => {
  const key = Buffer.from("k");
  test("mean nothing outside their chat", () => {
    expect(digestToken(key, undefined, "t")).not.toBe(digestToken(key, "c" as ChatId, "t"));
    expect(digestToken(key, undefined, "t")).not.toContain("t\0");
  });

  test("compare the whole request, whatever the order of its keys", () => {
    expect(canonical({ b: [1, { d: 1, c: undefined }], a: "x" })).toBe('{"a":"x","b":[1,{"d":1}]}');
    const one = digestRequest(key, { command: "a", env: { A: "1", B: "2" }, client_token: "x" });
    expect(digestRequest(key, { env: { B: "2", A: "1" }, command: "a", client_token: "y" })).toBe(one);
    expect(digestRequest(key, { command: "a", env: { A: "1", B: "3" } })).not.toBe(one);
  });
});

describe("the inherited environment", () => {
  const own = { PATH: "/bin", DROVER_TOKEN: "s", CODER_PROC_NICE_SCORE: "1", SECRET: "x", GONE: undefined };
  test("is everything but what is private to us", () => {
    expect(inheritedVariables(configSchema.parse({}), own)).toEqual({ PATH: "/bin", SECRET: "x" });
  });
  test("is only what is allowed, by policy", () => {
    expect(inheritedVariables(configSchema.parse({ env_policy: "allow" }), own)).toEqual({ PATH: "/bin" });
  });
  test("reads a hook's lines, or entries ended by NUL", () => {
    expect(parseVariables("A=1\nB=x=y\nnonsense\n=z\n", false)).toEqual({ A: "1", B: "x=y" });
    expect(parseVariables("A=1\n2\0B=\0", true)).toEqual({ A: "1\n2", B: "" });
  });
});

describe("the journal", () => {
  test("announces what facts give reason for, in order and once", () => {
    const ended: ProcessFacts = { ...facts, state: "exited", exit_code: 0, exited_at_ms: 5, ended_at_ms: 6 };
    expect(dueEvents(new ProcessRecord(meta, ended), 9).map((e) => e.type)).toEqual([
      "process.started",
      "process.exited",
      "process.ended",
    ]);
    expect(dueEvents(new ProcessRecord(meta, ended, announcements.started), 9).map((e) => e.type)).toEqual([
      "process.exited",
      "process.ended",
    ]);
    expect(dueEvents(new ProcessRecord(meta, ended, dueBits(ended)), 9)).toEqual([]);
    expect(dueEvents(new ProcessRecord(meta, { ...facts, state: "starting" }), 9)).toEqual([]);
  });
});

describe("stop steps", () => {
  test("are TERM, the grace and KILL unless asked otherwise; KILL comes last", () => {
    expect(completeSteps(undefined, 50)).toEqual([
      { signal: 15, waitMs: 50 },
      { signal: 9, waitMs: 0 },
    ]);
    expect(completeSteps([{ signal: 2, waitMs: 1 }], 50)).toEqual([
      { signal: 2, waitMs: 1 },
      { signal: 9, waitMs: 0 },
    ]);
    expect(completeSteps([{ signal: 9, waitMs: 0 }], 50)).toEqual([{ signal: 9, waitMs: 0 }]);
  });
});

describe("a failed start", () => {
  test.each([
    [6, 2, false, "process/bad-workdir"],
    [7, 2, false, "process/command-not-found"],
    [7, 2, true, "process/not-executable"],
    [7, 13, true, "process/not-executable"],
    [7, 8, true, "process/not-executable"],
    [7, 7, true, "process/too-long"],
    [1, 11, true, "process/start-failed"],
    [4, 28, true, "store/disk-full"],
  ])("of stage %i and errno %i is named", (stage, errno, exists, code) => {
    expect(startFault(meta, stage, errno, exists)).toMatchObject({ code });
  });

  test("keeps the original's words", () => {
    expect(failedStart("x")).toMatchObject({ message: "Failed to start process.", detail: "start process: x" });
    expect(startFault(meta, 1, 11, true).detail).toMatch(/^start process: fork: .*stop something/);
  });
});

describe("a record", () => {
  test("tells waiters of the exit and lets go of them", async () => {
    const record = new ProcessRecord(meta, facts);
    const waiting = record.waitExit(new AbortController().signal);
    expect(record.awaited).toBe(true);
    record.apply({ kind: "exited", code: 0, signal: 0, atMs: 1, logEnd: 0, children: 0 });
    await waiting;
    expect(record.awaited).toBe(false);
  });

  test("lets a waiter go when its signal fires", async () => {
    const record = new ProcessRecord(meta, facts);
    await record.waitExit(AbortSignal.timeout(1));
    expect(record.awaited).toBe(false);
    expect(record.running).toBe(true);
  });
});
