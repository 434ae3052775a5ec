import type { z } from "zod";
import type * as e from "./events.ts";
import type * as f from "./files.ts";
import type * as g from "./git.ts";
import type * as l from "./log.ts";
import type * as p from "./process.ts";
import type * as k from "./tokens.ts";
import type * as w from "./wait.ts";

/** The wire types, for those who must not load the schemas. */
export type StartRequest = z.output<typeof p.startRequest>;
export type StartAnswer = z.output<typeof p.startAnswer>;
export type ProcessSummary = z.output<typeof p.processSummary>;
export type ProcessInfo = z.output<typeof p.processInfo>;
export type ProcessState = z.output<typeof p.processState>;
export type EndReason = z.output<typeof p.endReason>;
export type Activity = z.output<typeof p.activity>;
export type ListAnswer = z.output<typeof p.listAnswer>;
export type OutputAnswer = z.output<typeof p.outputAnswer>;
export type Truncation = z.output<typeof p.truncation>;
export type StopRequest = z.output<typeof p.stopRequest>;
export type StopAnswer = z.output<typeof p.stopAnswer>;
export type Usage = z.output<typeof p.usage>;
export type Leftover = z.output<typeof p.leftover>;
export type Limits = z.output<typeof p.limits>;
export type TreeProcess = z.output<typeof p.treeProcess>;
export type WaitFor = z.output<typeof w.waitFor>;
export type WaitRequest = z.output<typeof w.waitRequest>;
export type WaitAnswer = z.output<typeof w.waitAnswer>;
export type LogAnswer = z.output<typeof l.logAnswer>;
export type SearchAnswer = z.output<typeof l.searchAnswer>;
export type OutputChunk = z.output<typeof l.outputChunk>;
export type ListDirectoryRequest = z.output<typeof f.listDirectoryRequest>;
export type ListDirectoryAnswer = z.output<typeof f.listDirectoryAnswer>;
export type ReadLinesQuery = z.output<typeof f.readLinesQuery>;
export type ReadLinesAnswer = z.output<typeof f.readLinesAnswer>;
export type FileEdit = z.output<typeof f.fileEdit>;
export type EditFilesRequest = z.output<typeof f.editFilesRequest>;
export type EditFilesAnswer = z.output<typeof f.editFilesAnswer>;
export type GitFile = z.output<typeof g.gitFile>;
export type GitRepository = z.output<typeof g.gitRepository>;
export type GitChanges = z.output<typeof g.gitChanges>;
export type GitFacts = z.output<typeof g.gitFacts>;
export type TokenRequest = z.output<typeof k.tokenRequest>;
export type TokenInfo = z.output<typeof k.tokenInfo>;
export type TokenCreated = z.output<typeof k.tokenCreated>;
export type ChatEnded = z.output<typeof k.chatEnded>;
export type DroverEvent = z.output<typeof e.event>;
/** `event: exit` of a stream and the `exit` message of an attachment. */
export interface ExitFacts {
  exit_code: number;
  signal?: string;
  reason?: EndReason;
  exited_at: string;
  log_end: number;
  leftover_count: number;
}
