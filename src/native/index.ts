// native: the TypeScript doors to the C helpers (native/README.md), and to what they leave on disk.
//
// The truth about a process lives beside it: a shim writes claim, state, log and index into its run directory and serves a
// control socket there. This room turns those bytes into plain objects and knows nothing of what they mean to the daemon.
//
// Invariants: protocol.ts is the only place with numbers of native/protocol.h; whatever arrives is hostile until it was parsed
// and never crashes the daemon; environment values exist in the launch frame alone; a pid is only ever used with its start time;
// nothing here holds the event loop for long (files are small, log reads are bounded by the caller, scans come in slices).
//
// Read: protocol.ts, frame.ts, launch-frame.ts, keeper.ts; hint.ts, state-file.ts, run-directories.ts, log-file.ts;
// control-connection.ts, shim-answers.ts; identity.ts, survivors.ts.
export { ControlConnection, type StopStep } from "./control-connection.ts";
export { helperPaths } from "./helper-paths.ts";
export type { Hint } from "./hint.ts";
export { HintReader } from "./hint-reader.ts";
export {
  commandOf,
  type Identity,
  isAlive,
  type ProcStat,
  readBootId,
  readPidNamespace,
  readStat,
  startTimeOf,
} from "./identity.ts";
export { Keeper, type KeeperOptions } from "./keeper.ts";
export type { LaunchSpec } from "./launch-frame.ts";
export { LogFile } from "./log-file.ts";
export type { StreamPart } from "./log-index.ts";
export { FRAME_DATA_MAX, launchStages, PROTOCOL_OLDEST, PROTOCOL_VERSION } from "./protocol.ts";
export { RunDirectories } from "./run-directories.ts";
export type { ShimExit, ShimLook, ShimNotice, ShimStatus, ShimStopped } from "./shim-answers.ts";
export { signalByIdentity } from "./signal-by-identity.ts";
export type { Range, RunState, StateEnd, StateExit, StateHeader, StateMark } from "./state-file.ts";
export { findSurvivors, type Survivor, type SurvivorQuery } from "./survivors.ts";
export type { Enforced, ShimPhase, StdinState } from "./words.ts";
