import { readdir, readFile, readlink } from "node:fs/promises";
import { ignore } from "../base/index.ts";
import { commandOf } from "../native/index.ts";

/** TCP_LISTEN of the kernel's tcp_states.h, as /proc/net/tcp writes it (proc_pid_net(5)). */
const LISTEN = "0A";

/** Given the id of the supervised process that somebody belongs to, if to any. */
export type MayName = (processId: string | undefined) => boolean;

/** Who listens on a port of this machine: `pid N command`, or its user when the process cannot be seen. Undefined: nobody. */
export async function findPortHolder(port: number, mayName: MayName = () => true): Promise<string | undefined> {
  const tables = await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map(readLines));
  const listeners = parseListeners(tables.flat(), port);
  const [first] = listeners;
  if (!first) return undefined;
  const pid = await findSocketOwner(new Set(listeners.map(({ inode }) => `socket:[${inode}]`)));
  if (pid === undefined) return `a process of user ${first.uid}`;
  return mayName(await findProcessId(pid)) ? `pid ${pid} ${commandOf(pid)}` : "a process outside of this chat";
}

/** Every descendant of a supervised process carries its id, unless it took it off. */
async function findProcessId(pid: number): Promise<string | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return /(?:^|\0)DROVER_PROCESS_ID=([^\0]*)/.exec(environment)?.[1];
}

/** Sockets that listen on a port, from lines of /proc/net/tcp. */
export function parseListeners(lines: readonly string[], port: number): { uid: number; inode: number }[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return lines.flatMap((line) => {
    const [, local, , state, , , , uid, , inode] = line.trim().split(/\s+/);
    if (state !== LISTEN || !local?.endsWith(`:${hex}`)) return [];
    return [{ uid: Number(uid), inode: Number(inode) }];
  });
}

async function findSocketOwner(names: ReadonlySet<string>): Promise<number | undefined> {
  for (const pid of await list("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of await list(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      if (names.has(target)) return Number(pid);
    }
  }
  return undefined;
}

async function list(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    ignore(error, "a process that is gone or another user's shows nothing");
    return [];
  }
}

async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, "latin1")).split("\n").slice(1);
  } catch (error) {
    ignore(error, "without IPv6 there is no such table");
    return [];
  }
}
