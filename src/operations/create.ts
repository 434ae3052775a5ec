import type { ChatId, Config, MachineId } from "../contract/index.ts";
import type { GitWatch } from "../git/index.ts";
import type { Supervisor } from "../process/index.ts";
import type { TokenBook } from "../tokens/index.ts";
import { guardOperations } from "./access.ts";
import { controlOperations } from "./control.ts";
import { daemonOperations } from "./daemon.ts";
import { fileOperations } from "./files.ts";
import { findOperations } from "./find.ts";
import { gitOperations } from "./git.ts";
import type { Measure, Metrics } from "./metrics.ts";
import { readOperations } from "./read.ts";
import { startOperations } from "./start.ts";
import { streamOperations } from "./streams.ts";
import type { Operations } from "./table.ts";
import { tokenOperations } from "./tokens.ts";
import { toolOperations } from "./tools.ts";

/** What the daemon knows about itself. */
export interface DaemonFacts {
  readonly version: string;
  readonly protocol: number;
  readonly machineId: MachineId;
  readonly machineName: string;
  readonly home: string;
  readonly socket: string;
  readonly startedAtMs: number;
  readonly features: readonly string[];
  /** Known once it listens. */
  url(): string;
  /** Begins to close; whoever asked is answered first. */
  shutDown(): void;
  /** What only the daemon can measure. */
  measures(): Measure[];
}

/** The rooms that meet here. */
export interface Rooms {
  readonly supervisor: Supervisor;
  readonly tokens: TokenBook;
  readonly git: GitWatch;
  readonly config: Config;
  readonly daemon: DaemonFacts;
  readonly metrics: Metrics;
  /** Is told what a chat changed, for the git watch. */
  readonly paths?: { add(chatId: ChatId, ancestors: readonly ChatId[], path: string): void };
}

/** Every operation by its name in contract's table. */
export function createOperations(rooms: Rooms): Operations {
  return guardOperations({
    ...startOperations(rooms),
    ...findOperations(rooms),
    ...readOperations(rooms),
    ...controlOperations(rooms),
    ...streamOperations(rooms),
    ...daemonOperations(rooms),
    ...tokenOperations(rooms),
    ...fileOperations(rooms),
    ...gitOperations(rooms),
    ...toolOperations(rooms, { ...controlOperations(rooms), ...readOperations(rooms) }),
  });
}
