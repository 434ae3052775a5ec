// Waiting for a process: the first condition that holds fires, the exit always counts, and the process never notices.
//
// When several hold at once the order is match, bytes, port, http, activity, idle, exit: a match in the last line of a process
// that has just ended is a match. The exit alone needs nothing but the record, and is the path that has to be short.
import { firstBorder, lastBorder } from "../base/index.ts";
import { WAIT_MAX_MS, type WaitAnswer, type WaitFor, type WaitRequest } from "../contract/index.ts";
import { exitFields, type OutputHost, readSummary, useLog } from "./output-host.ts";
import { findPortHolder, type MayName } from "./port-holder.ts";
import type { ProcessRecord } from "./record.ts";
import { type Condition, checkConditions, type Fired, openConditions } from "./wait-conditions.ts";

const DEFAULT_MS = 30_000;

export interface WaitOptions {
  /** The default cursor is the first byte instead of now. */
  fromStart: boolean;
  /** Ends the wait with an error; the process is left alone. */
  signal: AbortSignal;
  /** Whether the holder of a port may be told by name, given the process it belongs to; absent: whoever it is. */
  mayName?: MayName | undefined;
}

/** Faults when one of the conditions can never be waited for, before anything is started. */
export function checkWait(request: WaitRequest): void {
  checkConditions(request.for ?? {});
}

/** Answers which condition fired, with the output since the cursor. */
export async function waitFor(
  host: OutputHost,
  record: ProcessRecord,
  request: WaitRequest,
  options: WaitOptions,
): Promise<WaitAnswer> {
  const asked = request.for ?? {};
  checkWait(request);
  options.signal.throwIfAborted();
  const cursor = request.cursor ?? (options.fromStart ? 0 : useLog(host, record, (log) => log?.end() ?? 0));
  const timeoutMs = Math.min(request.timeout_ms ?? DEFAULT_MS, WAIT_MAX_MS);
  const fired = needsMore(asked)
    ? await waitForAny(host, record, asked, { cursor, timeoutMs, signal: options.signal })
    : await waitForExit(record, timeoutMs, options.signal);
  const answer = createAnswer(host, record, fired, { cursor, isChosen: request.cursor !== undefined });
  if (fired.fired !== "timeout" || asked.port === undefined) return answer;
  const holder = await findPortHolder(asked.port, options.mayName);
  return holder === undefined ? answer : { ...answer, port_held_by: holder };
}

function needsMore(asked: WaitFor): boolean {
  return Object.entries(asked).some(([name, value]) => name !== "exit" && value !== undefined);
}

async function waitForExit(record: ProcessRecord, timeoutMs: number, signal: AbortSignal): Promise<Fired> {
  await record.waitExit(signal, timeoutMs);
  if (!record.running) return { fired: "exit" };
  signal.throwIfAborted();
  return { fired: "timeout" };
}

interface AnyOptions {
  cursor: number;
  timeoutMs: number;
  signal: AbortSignal;
}

async function waitForAny(host: OutputHost, record: ProcessRecord, asked: WaitFor, o: AnyOptions): Promise<Fired> {
  const over = new AbortController();
  const bell = new Bell();
  const wake = () => bell.ring();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    wake();
  }, o.timeoutMs);
  const stopListening = record.onChange(wake);
  o.signal.addEventListener("abort", wake, { once: true });
  try {
    const conditions = openConditions({ host, record, cursor: o.cursor, over: over.signal, wake }, asked);
    for (;;) {
      o.signal.throwIfAborted();
      // Read before the conditions are asked: all output of an ended process is on disk by then.
      const { running, ended } = record;
      const late = isLate;
      const fired = await askAll(conditions, { isLast: late || !running, ended });
      if (fired) return fired;
      if (!running) return { fired: "exit" };
      if (late) return { fired: "timeout" };
      await bell.rung();
    }
  } finally {
    clearTimeout(timer);
    stopListening();
    o.signal.removeEventListener("abort", wake);
    over.abort();
  }
}

/** In the last round, those that need time to find out have had it: a wait of 0 ms asks once. */
async function askAll(
  conditions: readonly Condition[],
  o: { isLast: boolean; ended: boolean },
): Promise<Fired | undefined> {
  for (const condition of conditions) {
    if (o.isLast && !o.ended) await condition.asked;
    const fired = await condition.holds();
    if (fired) return fired;
  }
  return undefined;
}

/** Remembers a ring that nobody waited for. */
class Bell {
  #isRung = false;
  #hear: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#hear?.();
  }

  async rung(): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        this.#hear = resolve;
      });
    }
    this.#isRung = false;
    this.#hear = undefined;
  }
}

function createAnswer(
  host: OutputHost,
  record: ProcessRecord,
  fired: Fired,
  o: { cursor: number; isChosen: boolean },
): WaitAnswer {
  const { running, facts } = record;
  return useLog(host, record, (log) => {
    const end = log?.end() ?? 0;
    let from = Math.min(o.cursor, end);
    let to = end;
    if (log && from < end) {
      // A character that is not whole yet is left for the next wait, unless nobody completes it.
      if (running) {
        const last = log.read(Math.max(from, end - 4), end).data;
        to = end - (last.length - lastBorder(last));
      }
      // "From now on" may have been the middle of a character.
      if (!o.isChosen && from > 0)
        from = Math.min(to, from + firstBorder(log.read(from, Math.min(end, from + 4)).data));
    }
    const { output, truncated } = readSummary(log, from, to);
    return {
      ...fired,
      running,
      ...exitFields(facts),
      cursor: Math.max(to, Math.min(o.cursor, end)),
      output,
      ...(truncated?.omitted ? { omitted: truncated.omitted } : {}),
    };
  });
}
