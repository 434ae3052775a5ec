import type { ProcessFacts } from "../../../src/contract/index.ts";

/** Facts of a running process. */
export function factsOf(change: Partial<ProcessFacts> = {}): ProcessFacts {
  return {
    state: "running",
    started_at_ms: 1000,
    leftover_count: 0,
    log_end: 0,
    warnings: [],
    supervised: true,
    ...change,
  };
}

/** Facts of one that ended and left nothing. */
export function endedAt(atMs: number): ProcessFacts {
  return factsOf({ state: "exited", exit_code: 0, exited_at_ms: atMs, ended_at_ms: atMs });
}
