import type { ProcessFacts, Usage } from "../contract/index.ts";
import type { Identity, RunState } from "../native/index.ts";
import type { Details, LifeEvent } from "./lifecycle.ts";

/** Where and when the daemon looks. */
export interface Surroundings {
  readonly bootId: string;
  readonly pidNs: number;
  isAlive(who: Identity): boolean;
  nowMs(): number;
}

/**
 * What a state file says about a process that has these facts, as events in order. Pure but for the questions it asks.
 * `elsewhere`: it was started in another pid namespace, so that liveness cannot be judged from here.
 */
export function judge(facts: ProcessFacts, state: RunState, here: Surroundings): LifeEvent[] | "elsewhere" {
  const { header, exit, end } = state;
  if (header.startErrno !== 0) return [{ kind: "start_failed" }];
  const events: LifeEvent[] = [];
  if (facts.pid === undefined && header.leaderPid !== 0) events.push(startedEvent(state));
  const details = newDetails(facts, state);
  if (details) events.push({ kind: "described", details });
  const warnings = state.mark?.warnings.filter((w) => !facts.warnings.includes(w)) ?? [];
  if (warnings.length > 0) events.push({ kind: "warned", warnings });
  if (exit) events.push(exitedEvent(exit));
  if (end) return [...events, { kind: "ended", atMs: end.endedAtMs, logEnd: end.logEnd }];
  const living = judgeLiving(state, here);
  return living === "elsewhere" ? living : [...events, ...living];
}

/** What is true when there is no end slot: somebody lives, or nobody was there to write it. */
function judgeLiving(state: RunState, here: Surroundings): LifeEvent[] | "elsewhere" {
  const { header, exit } = state;
  const atMs = here.nowMs();
  if (header.bootId !== here.bootId) {
    if (exit) return [{ kind: "ended", atMs }];
    const evidence = "the machine restarted since, and its supervisor left no exit record";
    return [
      { kind: "vanished", evidence, atMs },
      { kind: "ended", atMs },
    ];
  }
  if (header.pidNs !== here.pidNs) return "elsewhere";
  if (here.isAlive({ pid: header.shimPid, start: header.shimStart })) return [];
  return [judgeWithoutShim(header.shimPid, { pid: header.leaderPid, start: header.leaderStart }, here)];
}

/** The shim is gone: is its command? */
export function judgeWithoutShim(
  shimPid: number | undefined,
  leader: Identity,
  here: Surroundings,
): Extract<LifeEvent, { kind: "abandoned" | "vanished" }> {
  const gone = `its supervisor (pid ${shimPid ?? "unknown"}) is gone and left no exit record`;
  const atMs = here.nowMs();
  if (leader.pid !== 0 && here.isAlive(leader)) {
    return { kind: "abandoned", evidence: `${gone}; the command (pid ${leader.pid}) is still alive`, atMs };
  }
  const command =
    leader.pid === 0 ? "whether the command ever ran is not known" : `the command (pid ${leader.pid}) is gone too`;
  return { kind: "vanished", evidence: `${gone}; ${command}`, atMs };
}

function startedEvent({ header }: RunState): LifeEvent {
  return {
    kind: "started",
    pid: header.leaderPid,
    pidStart: header.leaderStart,
    shimPid: header.shimPid,
    shimStart: header.shimStart,
    atMs: header.startedAtMs,
  };
}

function exitedEvent(exit: NonNullable<RunState["exit"]>): LifeEvent {
  return {
    kind: "exited",
    code: exit.code,
    signal: exit.signal,
    reason: exit.reason,
    atMs: exit.exitedAtMs,
    logEnd: exit.logEnd,
    children: exit.children,
  };
}

/** Details that the facts do not hold yet; undefined when there are none, so that a sweep writes nothing. */
export function newDetails(facts: ProcessFacts, state: RunState): Details | undefined {
  const { header, exit, mark } = state;
  const details: Details = {};
  if (facts.shim_start === undefined && header.shimStart !== 0) {
    details.shimPid = header.shimPid;
    details.shimStart = header.shimStart;
  }
  if (facts.usage === undefined && exit) details.usage = toUsage(exit);
  if (facts.evidence === undefined && exit?.detail) details.evidence = exit.detail;
  if (facts.limits_enforced === undefined && Object.keys(header.enforced).length > 0) {
    details.limitsEnforced = header.enforced;
  }
  // Growth alone is no news: the size of the log file is asked for when somebody wants it.
  if (exit && mark && mark.logEnd > Math.max(facts.log_end, exit.logEnd)) details.logEnd = mark.logEnd;
  return Object.keys(details).length > 0 ? details : undefined;
}

function toUsage(exit: NonNullable<RunState["exit"]>): Usage {
  return {
    user_ms: Math.round(exit.userUs / 1000),
    system_ms: Math.round(exit.systemUs / 1000),
    max_rss_bytes: exit.maxRss,
    read_bytes: exit.readBytes,
    written_bytes: exit.writtenBytes,
    wall_ms: Math.round(exit.wallUs / 1000),
  };
}
