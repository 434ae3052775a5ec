import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setImmediate as pause } from "node:timers/promises";
import { type Clock, ignore, type Log } from "../base/index.ts";
import type { ChatId, ProcessMeta } from "../contract/index.ts";
import { GitWatch } from "../git/index.ts";
import { isAlive } from "../native/index.ts";
import type { Supervisor } from "../process/index.ts";
import type { Store } from "../store/index.ts";

/** Members looked at for one process, and in all: a build may have thousands, and they are in the same few directories. */
const MEMBERS_MOST = 64;
const LOOKS_MOST = 1_000;
const SLICE = 50;

interface GitRooms {
  readonly store: Store;
  readonly supervisor: Supervisor;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The git watch, told of where a chat's processes start, end and are. */
export function openGitWatch({ store, supervisor, ...rooms }: GitRooms): { git: GitWatch; close(): void } {
  const liveDirectories = (chatId: ChatId) => findDirectories(supervisor, chatId);
  const git = new GitWatch({ ...rooms, store: store.gitPaths, liveDirectories });
  const types: ["process.started", "process.exited"] = ["process.started", "process.exited"];
  const stop = supervisor.events.subscribe({ types }, ({ process_id: id }) => {
    const meta = supervisor.findLive(id)?.meta;
    if (meta?.chat_id) git.add(meta.chat_id, meta.ancestor_chat_ids ?? [], meta.workdir);
  });
  const close = () => {
    stop();
    git.close();
  };
  return { git, close };
}

/** The directories of what a chat, or a chat below it, has running: a `cd` inside a command shows up here only. */
async function findDirectories(supervisor: Supervisor, chatId: ChatId): Promise<string[]> {
  const found = new Set<string>();
  let looks = 0;
  for (const { meta, facts } of supervisor.live()) {
    if (!isOf(meta, chatId)) continue;
    for (const pid of membersOf([identity(facts.shim_pid, facts.shim_start), identity(facts.pid, facts.pid_start)])) {
      if (++looks > LOOKS_MOST) return [...found];
      if (looks % SLICE === 0) await pause();
      const directory = directoryOf(pid);
      if (directory !== undefined) found.add(directory);
    }
  }
  return [...found];
}

function isOf(meta: ProcessMeta, chatId: ChatId): boolean {
  return meta.chat_id === chatId || meta.ancestor_chat_ids?.includes(chatId) === true;
}

function identity(pid: number | undefined, start: number | undefined): number[] {
  return pid !== undefined && start !== undefined && isAlive({ pid, start }) ? [pid] : [];
}

/** The shim is the parent of whatever loses its own, so that every member is below it; its own directory tells nothing. */
function membersOf([shim = [], leader = []]: number[][]): number[] {
  const found = new Set<number>(leader);
  const queue = [...shim, ...leader];
  for (let pid = queue.shift(); pid !== undefined && found.size < MEMBERS_MOST; pid = queue.shift()) {
    for (const child of childrenOf(pid)) {
      if (!found.has(child)) queue.push(child);
      found.add(child);
    }
  }
  return [...found];
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number),
    );
  } catch (error) {
    ignore(error, "it ended, or this kernel keeps no list of children");
    return [];
  }
}

function directoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    ignore(error, "it ended, or is another user's");
    return undefined;
  }
}
