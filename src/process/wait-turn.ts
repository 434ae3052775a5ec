import type { Activity, WaitAnswer, WaitRequest } from "../contract/index.ts";
import { watchLooks } from "./look-poll.ts";
import type { OutputHost } from "./output-host.ts";
import type { ProcessRecord } from "./record.ts";
import { type WaitOptions, waitFor } from "./wait.ts";

/** What the kernel calls waiting for whoever holds the other end of stdin. */
export type InputActivity = Extract<Activity, "waiting_line" | "waiting_secret" | "waiting_keys">;

/** Told by termios and the system call it sits in, never by text. */
export function isWaitingForInput(activity: Activity | undefined): activity is InputActivity {
  return activity === "waiting_line" || activity === "waiting_secret" || activity === "waiting_keys";
}

/** Only a process whose stdin we hold can be answered; no other is looked at. */
export function acceptsInput({ meta }: ProcessRecord): boolean {
  return meta.tty || meta.stdin === "open";
}

/**
 * As `waitFor`, but over as soon as the process has waited for input for `inputMs`: then `activity` fired. A moment of waiting is
 * no prompt: programs look at their input between two steps.
 */
export async function waitForTurn(
  host: OutputHost,
  record: ProcessRecord,
  request: WaitRequest,
  options: WaitOptions & { inputMs: number },
): Promise<WaitAnswer> {
  if (!acceptsInput(record) || request.for?.activity !== undefined) return waitFor(host, record, request, options);
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  try {
    const first = await Promise.race([
      waitFor(host, record, request, { ...options, signal }),
      waitForInput(host, record, options.inputMs, signal),
    ]);
    if (typeof first !== "string") return first;
    const now = await waitFor(host, record, { ...request, for: { exit: true }, timeout_ms: 0 }, options);
    return now.fired === "timeout" ? { ...now, fired: "activity", activity: first } : now;
  } finally {
    over.abort();
  }
}

/** Resolves when it has waited for input this long; not at all when it never does. */
function waitForInput(
  host: OutputHost,
  record: ProcessRecord,
  inputMs: number,
  signal: AbortSignal,
): Promise<InputActivity> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const stop = watchLooks(host, record, {
      want: { activity: true },
      tell(look) {
        const activity = look?.activity;
        if (!isWaitingForInput(activity)) {
          since = undefined;
          return;
        }
        since ??= performance.now();
        if (performance.now() - since >= inputMs) resolve(activity);
      },
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}
