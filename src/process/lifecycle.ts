// The life of a process as one table: phase × event → phase and actions. Pure; every cell is tested.
//
// A phase is finer than the state on the wire: `exited` may still have descendants, `adrift` is a `lost` whose command is proven
// alive, `lost` is one whose command is gone, `ended` means that nothing is left of either.
import { signalName } from "../base/index.ts";
import type { EndReason, ProcessFacts, Usage } from "../contract/index.ts";

export type Phase = "starting" | "running" | "exited" | "adrift" | "lost" | "ended";

/** What was observed, from a hint, the state file, /proc or a scan. */
export type LifeEvent =
  | { kind: "started"; pid: number; pidStart: number; shimPid: number; shimStart?: number | undefined; atMs: number }
  | { kind: "start_failed" }
  | {
      kind: "exited";
      code: number;
      signal: number;
      reason?: EndReason | undefined;
      atMs: number;
      logEnd: number;
      children: number;
    }
  | { kind: "ended"; atMs: number; logEnd?: number | undefined }
  /** The shim is gone, the command is proven alive. */
  | { kind: "abandoned"; evidence: string; atMs: number }
  /** The shim is gone and so is the command, or nobody can tell. */
  | { kind: "vanished"; evidence: string; atMs: number }
  | { kind: "counted"; leftovers: number }
  | { kind: "warned"; warnings: readonly string[] }
  | { kind: "described"; details: Details };

export type LifeEventKind = LifeEvent["kind"];

/** Facts that change no phase. */
export interface Details {
  shimPid?: number | undefined;
  shimStart?: number | undefined;
  logEnd?: number | undefined;
  usage?: Usage | undefined;
  limitsEnforced?: ProcessFacts["limits_enforced"];
  evidence?: string | undefined;
}

/** save: tell the journal. look: read the state file. search: look for descendants without a supervisor. forget: it never ran. */
export type Action = "save" | "look" | "search" | "forget";
export interface Cell {
  readonly to: Phase;
  readonly actions: readonly Action[];
}

const to = (phase: Phase, ...actions: Action[]): Cell => ({ to: phase, actions });
const stay = (phase: Phase): Cell => ({ to: phase, actions: [] });

/** Total: a cell that only stays is an event that says nothing new in that phase. */
export const table: Readonly<Record<Phase, Readonly<Record<LifeEventKind, Cell>>>> = {
  starting: {
    started: to("running", "save"),
    start_failed: to("ended", "forget"),
    exited: to("exited", "save"),
    ended: to("starting", "look"),
    abandoned: to("adrift", "save"),
    vanished: to("lost", "save", "search"),
    counted: stay("starting"),
    warned: to("starting", "save"),
    described: to("starting", "save"),
  },
  running: {
    started: stay("running"),
    start_failed: stay("running"),
    exited: to("exited", "save"),
    // The hint of the exit was lost: the state file has it.
    ended: to("running", "look"),
    abandoned: to("adrift", "save"),
    vanished: to("lost", "save", "search"),
    counted: stay("running"),
    warned: to("running", "save"),
    described: to("running", "save"),
  },
  exited: {
    started: stay("exited"),
    start_failed: stay("exited"),
    exited: stay("exited"),
    ended: to("ended", "save"),
    abandoned: to("exited", "save", "search"),
    vanished: to("exited", "save", "search"),
    counted: to("exited", "save"),
    warned: to("exited", "save"),
    described: to("exited", "save"),
  },
  adrift: {
    started: stay("adrift"),
    start_failed: stay("adrift"),
    // An exit record is the truth, whenever it comes to light.
    exited: to("exited", "save"),
    ended: to("adrift", "look"),
    abandoned: stay("adrift"),
    vanished: to("lost", "save", "search"),
    counted: to("adrift", "save"),
    warned: to("adrift", "save"),
    described: to("adrift", "save"),
  },
  lost: {
    started: stay("lost"),
    start_failed: stay("lost"),
    exited: to("exited", "save"),
    ended: to("ended", "save"),
    abandoned: stay("lost"),
    vanished: stay("lost"),
    counted: to("lost", "save"),
    warned: to("lost", "save"),
    described: to("lost", "save"),
  },
  ended: {
    started: stay("ended"),
    start_failed: stay("ended"),
    exited: stay("ended"),
    ended: stay("ended"),
    abandoned: stay("ended"),
    vanished: stay("ended"),
    counted: stay("ended"),
    warned: stay("ended"),
    described: to("ended", "save"),
  },
};

/** The phase that facts describe. */
export function phaseOf(facts: ProcessFacts): Phase {
  if (facts.ended_at_ms !== undefined) return "ended";
  if (facts.state === "lost") return facts.exited_at_ms === undefined ? "adrift" : "lost";
  return facts.state;
}

/** The facts after an event, and what is to be done about it. Facts are replaced, never changed. */
export function advance(facts: ProcessFacts, event: LifeEvent): { facts: ProcessFacts; actions: readonly Action[] } {
  const from = phaseOf(facts);
  const cell = table[from][event.kind];
  if (cell.actions.length === 0 || cell.actions.includes("look")) return { facts, actions: cell.actions };
  return { facts: observe(facts, event), actions: cell.actions };
}

function observe(facts: ProcessFacts, event: LifeEvent): ProcessFacts {
  switch (event.kind) {
    case "started":
      return started(facts, event);
    case "start_failed":
      return facts;
    case "exited":
      return exited(facts, event);
    case "ended":
      return {
        ...facts,
        ended_at_ms: event.atMs,
        leftover_count: 0,
        log_end: Math.max(facts.log_end, event.logEnd ?? 0),
      };
    case "abandoned":
      return facts.state === "exited"
        ? { ...facts, supervised: false }
        : { ...facts, state: "lost", supervised: false, evidence: event.evidence };
    case "vanished":
      return facts.state === "exited" ? { ...facts, supervised: false } : vanished(facts, event);
    case "counted":
      return { ...facts, leftover_count: event.leftovers };
    case "warned":
      return { ...facts, warnings: [...new Set([...facts.warnings, ...event.warnings])] };
    case "described":
      return describe(facts, event.details);
  }
}

function started(facts: ProcessFacts, e: Extract<LifeEvent, { kind: "started" }>): ProcessFacts {
  const next: ProcessFacts = {
    ...facts,
    state: "running",
    pid: e.pid,
    pid_start: e.pidStart,
    shim_pid: e.shimPid,
    started_at_ms: e.atMs,
  };
  if (e.shimStart !== undefined) next.shim_start = e.shimStart;
  return next;
}

function exited(facts: ProcessFacts, e: Extract<LifeEvent, { kind: "exited" }>): ProcessFacts {
  const { evidence: _, ...rest } = facts;
  const next: ProcessFacts = {
    ...rest,
    state: "exited",
    exit_code: e.signal === 0 ? e.code : -1,
    exited_at_ms: e.atMs,
    leftover_count: e.children,
    log_end: Math.max(facts.log_end, e.logEnd),
  };
  delete next.signal;
  delete next.reason;
  if (e.signal !== 0) next.signal = signalName(e.signal);
  if (e.reason !== undefined) next.reason = e.reason;
  return next;
}

function vanished(facts: ProcessFacts, e: Extract<LifeEvent, { kind: "vanished" }>): ProcessFacts {
  return {
    ...facts,
    state: "lost",
    supervised: false,
    exit_code: -1,
    reason: "lost",
    // When it was seen to be gone; the moment itself is not known.
    exited_at_ms: e.atMs,
    evidence: e.evidence,
  };
}

function describe(facts: ProcessFacts, d: Details): ProcessFacts {
  const next: ProcessFacts = { ...facts, log_end: Math.max(facts.log_end, d.logEnd ?? 0) };
  if (d.shimPid !== undefined) next.shim_pid = d.shimPid;
  if (d.shimStart !== undefined) next.shim_start = d.shimStart;
  if (d.usage !== undefined) next.usage = d.usage;
  if (d.limitsEnforced !== undefined) next.limits_enforced = d.limitsEnforced;
  if (d.evidence !== undefined) next.evidence = d.evidence;
  return next;
}
