import { setTimeout as sleep } from "node:timers/promises";
import { ignore } from "../base/index.ts";
import type { WaitAnswer, WaitFor } from "../contract/index.ts";
import { Follower } from "./follow.ts";
import { answersHttp, parseLoopback } from "./http-probe.ts";
import { watchLooks } from "./look-poll.ts";
import { MatchScan } from "./match-scan.ts";
import type { OutputHost } from "./output-host.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { ProcessRecord } from "./record.ts";
import { patternPool } from "./search.ts";

const HTTP_MIN_MS = 50;
const HTTP_MAX_MS = 250;
/** Between two looks of a wait at new text, plus a bit for each other wait that queues: hundreds of them must not fill the day. */
const SCAN_PAUSE_MS = 5;

export type Fired = Pick<WaitAnswer, "fired" | "match" | "activity">;

/** What every condition of one wait has in common. */
export interface WaitContext {
  host: OutputHost;
  record: ProcessRecord;
  cursor: number;
  /** Fires when the wait is over, for whatever reason. */
  over: AbortSignal;
  /** Makes the wait look at its conditions again. */
  wake: () => void;
}

/** One condition. Conditions are asked in the order in which they win when several hold at once. */
export interface Condition {
  /** Undefined while it does not hold. */
  holds(): Promise<Fired | undefined> | Fired | undefined;
  /** Resolves when it was asked once at least; only for those that need time to find out. */
  asked?: Promise<void>;
}

/** Throws a fault before anything is opened when a condition cannot be waited for. */
export function checkConditions(asked: WaitFor): void {
  if (asked.match !== undefined) compilePattern(toPattern(asked.match));
  if (asked.http !== undefined) parseLoopback(asked.http);
}

/** Everything but the exit, which needs no more than the record. */
export function openConditions(context: WaitContext, asked: WaitFor): Condition[] {
  const conditions: Condition[] = [];
  const { match, bytes, port, http, activity, idle_ms } = asked;
  const needsOutput = match !== undefined || bytes !== undefined || idle_ms !== undefined;
  const follower = needsOutput ? follow(context) : undefined;
  if (follower && match !== undefined) conditions.push(matchCondition(context, follower, match));
  if (follower && bytes !== undefined) {
    conditions.push({ holds: () => (follower.end() - context.cursor >= bytes ? { fired: "bytes" } : undefined) });
  }
  if (port !== undefined) conditions.push(portCondition(context, port));
  if (http !== undefined) conditions.push(httpCondition(context, parseLoopback(http)));
  if (activity !== undefined) conditions.push(activityCondition(context, activity));
  if (follower && idle_ms !== undefined) conditions.push(idleCondition(context, follower, idle_ms));
  return conditions;
}

/** A follower that wakes the wait at every change and is closed with it. */
function follow({ host, record, over, wake }: WaitContext): Follower {
  const follower = Follower.open(host, record);
  over.addEventListener("abort", () => follower.close(), { once: true });
  const loop = async () => {
    while (!over.aborted) {
      await follower.changed(over);
      wake();
    }
  };
  loop().catch((error) => ignore(error, "waking does not fail"));
  return follower;
}

function toPattern(source: string): Pattern {
  return { source, isRegex: true, ignoreCase: false };
}

function matchCondition(context: WaitContext, follower: Follower, source: string): Condition {
  const pool = patternPool(context.host);
  const scan = new MatchScan(pool, toPattern(source), context.cursor);
  let notBefore = 0;
  let timer: NodeJS.Timeout | undefined;
  context.over.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return {
    async holds() {
      const end = follower.end();
      const { log } = follower;
      if (!log || end <= scan.scanned) return undefined;
      const early = notBefore - performance.now();
      if (early > 0 && context.record.running) {
        clearTimeout(timer);
        timer = setTimeout(context.wake, early);
        return undefined;
      }
      const match = await scan.advance(log, end);
      notBefore = performance.now() + SCAN_PAUSE_MS + pool.queued;
      return match ? { fired: "match", match } : undefined;
    },
  };
}

function portCondition(context: WaitContext, port: number): Condition {
  let isOpen = false;
  const asked = looks(context, { ports: true }, (look) => {
    isOpen = look?.ports.some((found) => found.port === port) ?? isOpen;
  });
  return { asked, holds: () => (isOpen ? { fired: "port" } : undefined) };
}

function activityCondition(context: WaitContext, wanted: string): Condition {
  let seen: string | undefined;
  const asked = looks(context, { activity: true }, (look) => {
    seen = look?.activity ?? seen;
  });
  return { asked, holds: () => (seen === wanted ? { fired: "activity", activity: seen } : undefined) };
}

type Tell = Parameters<typeof watchLooks>[2]["tell"];

/** Resolves after the first look. */
function looks(
  { host, record, over, wake }: WaitContext,
  want: { ports?: boolean; activity?: boolean },
  tell: Tell,
): Promise<void> {
  return new Promise((resolve) => {
    const stop = watchLooks(host, record, {
      want,
      tell(look) {
        tell(look);
        resolve();
        wake();
      },
    });
    over.addEventListener("abort", () => (stop(), resolve()), { once: true });
  });
}

function httpCondition({ over, wake }: WaitContext, url: URL): Condition {
  let answers = false;
  const loop = async (asked: () => void) => {
    for (let delayMs = HTTP_MIN_MS; !over.aborted && !answers; delayMs = Math.min(HTTP_MAX_MS, delayMs * 1.5)) {
      answers = await answersHttp(url, over);
      asked();
      wake();
      if (!answers) await sleep(delayMs, undefined, { signal: over });
    }
  };
  const asked = new Promise<void>((resolve) => {
    loop(resolve)
      .catch((error) => ignore(error, "the wait is over"))
      .finally(resolve);
  });
  return { asked, holds: () => (answers ? { fired: "http" } : undefined) };
}

/** Silence is counted from the beginning of the wait, so that an answer to fresh input is not missed. */
function idleCondition({ over, wake }: WaitContext, follower: Follower, idleMs: number): Condition {
  let end = follower.end();
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  over.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return {
    holds() {
      const now = performance.now();
      if (follower.end() > end) {
        end = follower.end();
        since = now;
      }
      const left = since + idleMs - now;
      if (left <= 0) return { fired: "idle" };
      clearTimeout(timer);
      timer = setTimeout(wake, Math.ceil(left));
      return undefined;
    },
  };
}
