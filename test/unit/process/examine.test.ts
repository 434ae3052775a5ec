import { describe, expect, test } from "vitest";
import type { ProcessFacts } from "../../../src/contract/index.ts";
import type { RunState } from "../../../src/native/index.ts";
import { judge, type Surroundings } from "../../../src/process/examine.ts";

const facts: ProcessFacts = {
  state: "running",
  pid: 5,
  pid_start: 6,
  shim_pid: 4,
  shim_start: 3,
  started_at_ms: 1,
  leftover_count: 0,
  log_end: 0,
  warnings: [],
  supervised: true,
};
const header = {
  bootId: "b",
  pidNs: 1,
  shimPid: 4,
  shimStart: 3,
  leaderPid: 5,
  leaderStart: 6,
  startedAtMs: 1,
  startErrno: 0,
  enforced: {},
};
const exit = {
  code: 2,
  signal: 0,
  exitedAtMs: 9,
  logEnd: 10,
  wallUs: 8000,
  userUs: 1000,
  systemUs: 2000,
  maxRss: 3,
  readBytes: 4,
  writtenBytes: 5,
  children: 0,
  detail: "",
};
const state = (more: object = {}, head: object = {}) => ({ header: { ...header, ...head }, ...more }) as RunState;

function here(...alive: number[]): Surroundings {
  return { bootId: "b", pidNs: 1, nowMs: () => 100, isAlive: (who) => alive.includes(who.pid) };
}
const kinds = (verdict: ReturnType<typeof judge>) => (verdict === "elsewhere" ? verdict : verdict.map((e) => e.kind));

describe("judge", () => {
  test("says nothing about a process whose shim lives", () => {
    expect(judge(facts, state(), here(4, 5))).toEqual([]);
  });

  test("finds a start and an end that no hint told", () => {
    const fresh: ProcessFacts = { ...facts, state: "starting" };
    delete fresh.pid;
    delete fresh.shim_start;
    const verdict = judge(fresh, state({ exit, end: { endedAtMs: 11, logEnd: 12 } }), here());
    expect(kinds(verdict)).toEqual(["started", "described", "exited", "ended"]);
  });

  test("tells whether the command outlived its shim", () => {
    expect(judge(facts, state(), here(5))).toMatchObject([
      { kind: "abandoned", evidence: expect.stringContaining("pid 4") },
    ]);
    expect(judge(facts, state(), here())).toMatchObject([
      { kind: "vanished", evidence: expect.stringContaining("gone too") },
    ]);
    expect(judge(facts, state({}, { leaderPid: 0 }), here())).toMatchObject([
      { kind: "vanished", evidence: expect.stringContaining("ever ran") },
    ]);
  });

  test("knows that nothing outlives a boot", () => {
    const after = { ...here(4, 5), bootId: "another" };
    expect(kinds(judge(facts, state(), after))).toEqual(["vanished", "ended"]);
    expect(judge(facts, state(), after)).toMatchObject([{ evidence: expect.stringContaining("restarted") }, {}]);
    expect(kinds(judge(facts, state({ exit }), after))).toEqual(["described", "exited", "ended"]);
  });

  test("does not judge pids of another namespace", () => {
    expect(judge(facts, state(), { ...here(4, 5), pidNs: 2 })).toBe("elsewhere");
  });

  test("hands on a failed start and new warnings", () => {
    expect(judge(facts, state({}, { startErrno: 2 }), here())).toEqual([{ kind: "start_failed" }]);
    expect(judge(facts, state({ mark: { warnings: ["disk_full"], logEnd: 0 } }), here(4))).toEqual([
      { kind: "warned", warnings: ["disk_full"] },
    ]);
  });

  test("brings the usage with the exit, once", () => {
    const verdict = judge(facts, state({ exit }), here(4));
    expect(verdict).toMatchObject([
      { kind: "described", details: { usage: { user_ms: 1, system_ms: 2, wall_ms: 8 } } },
      { kind: "exited" },
    ]);
    const known: ProcessFacts = { ...facts, usage: { user_ms: 1, system_ms: 2, wall_ms: 8 } };
    expect(kinds(judge(known, state({ exit }), here(4)))).toEqual(["exited"]);
  });
});
