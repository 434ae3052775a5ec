// operations: one short function per operation; the only place where rooms meet.
//
// Holds no state and no timers: a function finds the record, asks the process room and puts the answer into wire words. Doors
// (HTTP, later MCP) call these by name and translate faults in one place of their own.
//
// Read: table.ts (what a door gets), create.ts, start.ts, find.ts, read.ts, control.ts,
// streams.ts, daemon.ts, wire.ts (record → JSON).

export type { GitMessage } from "../git/index.ts";
export { checkAccess, refuseReadOnly } from "./access.ts";
export { createOperations, type DaemonFacts, type Rooms } from "./create.ts";
export { type Measure, Metrics } from "./metrics.ts";
export type {
  AttachControl,
  Attachment,
  FileBytes,
  GitWatching,
  JsonOperation,
  LogBytes,
  Operations,
  OutputBytes,
  SseMessage,
} from "./table.ts";
