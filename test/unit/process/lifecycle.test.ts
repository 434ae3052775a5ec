import { describe, expect, test } from "vitest";
import type { ProcessFacts } from "../../../src/contract/index.ts";
import {
  advance,
  type LifeEvent,
  type LifeEventKind,
  type Phase,
  phaseOf,
  table,
} from "../../../src/process/lifecycle.ts";

const base: ProcessFacts = {
  state: "starting",
  started_at_ms: 1,
  leftover_count: 0,
  log_end: 0,
  warnings: [],
  supervised: true,
};
const exitedFacts: ProcessFacts = {
  ...base,
  state: "exited",
  pid: 5,
  exit_code: 0,
  exited_at_ms: 9,
  leftover_count: 1,
};
const lostFacts: ProcessFacts = { ...base, state: "lost", supervised: false, evidence: "e" };

/** Facts of each phase. */
const samples: Record<Phase, ProcessFacts> = {
  starting: base,
  running: { ...base, state: "running", pid: 5, pid_start: 6 },
  exited: exitedFacts,
  adrift: lostFacts,
  lost: { ...lostFacts, exit_code: -1, reason: "lost", exited_at_ms: 9 },
  ended: { ...exitedFacts, ended_at_ms: 10, leftover_count: 0 },
};

const events: Record<LifeEventKind, LifeEvent> = {
  started: { kind: "started", pid: 5, pidStart: 6, shimPid: 4, atMs: 2 },
  start_failed: { kind: "start_failed" },
  exited: { kind: "exited", code: 3, signal: 0, atMs: 20, logEnd: 7, children: 2 },
  ended: { kind: "ended", atMs: 30, logEnd: 8 },
  abandoned: { kind: "abandoned", evidence: "shim gone, alive", atMs: 40 },
  vanished: { kind: "vanished", evidence: "shim gone, dead", atMs: 50 },
  counted: { kind: "counted", leftovers: 4 },
  warned: { kind: "warned", warnings: ["disk_full"] },
  described: { kind: "described", details: { shimStart: 77 } },
};

const phases = Object.keys(samples) as Phase[];
const kinds = Object.keys(events) as LifeEventKind[];

describe("the transition table", () => {
  test.each(phases)("describes its own phase: %s", (phase) => {
    expect(phaseOf(samples[phase])).toBe(phase);
  });

  test.each(phases.flatMap((phase) => kinds.map((kind) => [phase, kind] as const)))(
    "facts follow the cell %s × %s",
    (phase, kind) => {
      const cell = table[phase][kind];
      const next = advance(samples[phase], events[kind]);
      expect(next.actions).toEqual(cell.actions);
      if (cell.actions.includes("forget")) return;
      expect(phaseOf(next.facts)).toBe(cell.to);
      const isQuiet = cell.actions.length === 0 || cell.actions.includes("look");
      expect(next.facts === samples[phase]).toBe(isQuiet);
    },
  );

  test.each(phases)("never changes facts in place: %s", (phase) => {
    const before = structuredClone(samples[phase]);
    for (const kind of kinds) advance(samples[phase], events[kind]);
    expect(samples[phase]).toEqual(before);
  });

  test("never leaves an end, and never goes back to running", () => {
    for (const kind of kinds) expect(table.ended[kind].to).toBe("ended");
    for (const phase of ["exited", "adrift", "lost", "ended"] as const) {
      for (const kind of kinds) expect(["starting", "running"]).not.toContain(table[phase][kind].to);
    }
  });
});

describe("facts", () => {
  test("of a signal are -1 and its name", () => {
    const { facts } = advance(samples.running, {
      kind: "exited",
      code: -1,
      signal: 9,
      reason: "oom",
      atMs: 3,
      logEnd: 0,
      children: 0,
    });
    expect(facts).toMatchObject({ exit_code: -1, signal: "SIGKILL", reason: "oom" });
  });

  test("of a lost command say so and hold no invented code", () => {
    expect(advance(samples.running, events.vanished).facts).toMatchObject({
      state: "lost",
      exit_code: -1,
      reason: "lost",
      supervised: false,
      evidence: "shim gone, dead",
    });
  });

  test("of an exit record replace those of a loss", () => {
    const { facts } = advance(samples.lost, events.exited);
    expect(facts).toMatchObject({ state: "exited", exit_code: 3, exited_at_ms: 20 });
    expect(facts).not.toHaveProperty("reason");
    expect(facts).not.toHaveProperty("evidence");
  });

  test("keep the exit when only the shim is lost afterwards", () => {
    expect(advance(samples.exited, events.vanished).facts).toMatchObject({
      state: "exited",
      exit_code: 0,
      supervised: false,
    });
  });

  test("never shrink the log", () => {
    const { facts } = advance({ ...samples.running, log_end: 100 }, events.exited);
    expect(facts.log_end).toBe(100);
  });
});
