// process: the heart. Starts processes, knows what became of them, reads their output, ends them.
//
// The truth about a process lies beside it, in its run directory, written by its shim (native/README.md). This room is a cache
// of that truth with waiters: hints make it quick, the state file makes it right, a slow sweep makes it sure. SQLite follows
// a few milliseconds behind and is never on the path of a start.
//
// Invariants: facts change only through the table of lifecycle.ts, and only by what was observed; a failed start leaves nothing;
// a pid is only ever used with its start time; closing the supervisor leaves every process running; memory is bounded by what
// runs, not by what ran.
//
// Read: lifecycle.ts, record.ts, core.ts (event → consequences), launches.ts (the start), examine.ts and adopt.ts (truth),
// stop.ts, orphans.ts, journal.ts, list.ts, visibility.ts, retention.ts; for output: log-reader.ts, follow.ts, wait.ts.
export { EventBus } from "./event-bus.ts";
export { Follower } from "./follow.ts";
export type { Inspection, LogExtent, LookWhat } from "./inspect.ts";
export type { ListPage, ListQuery } from "./list.ts";
export { type LogBytes, type LogQuery, readLog, readLogBytes, readOutput } from "./log-reader.ts";
export { exitFields, type OutputHost, toExitFacts } from "./output-host.ts";
export { type Summary, type SummaryInput, summarise } from "./output-summary.ts";
export { ProcessRecord } from "./record.ts";
export { type SearchQuery, searchLog } from "./search.ts";
export { type StreamItem, streamItems } from "./stream-output.ts";
export { Supervisor, type SupervisorOptions } from "./supervisor.ts";
export { renderText } from "./text-view.ts";
export { mayChange, mayEnd, mayRead, type Right, rangeOf } from "./visibility.ts";
export { checkWait, type WaitOptions, waitFor } from "./wait.ts";
export { acceptsInput, type InputActivity, isWaitingForInput, waitForTurn } from "./wait-turn.ts";
