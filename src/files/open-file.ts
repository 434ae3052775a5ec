import { constants, type Stats, type StatsBase } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { Fault } from "../contract/index.ts";
import { checkPath } from "./checked-path.ts";
import { withFaults } from "./file-faults.ts";

const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

export interface Opened {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/**
 * Opens a regular file for reading. Looked at twice: before, because opening a device may do something; and after, because the
 * name may have got another meaning in between, for which O_NONBLOCK keeps a pipe from holding a thread.
 */
export async function openRegular(path: string): Promise<Opened> {
  checkPath(path);
  return withFaults(path, "read", async () => {
    refuseSpecial(await stat(path), path);
    const handle = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    try {
      const stats = await handle.stat();
      refuseSpecial(stats, path);
      return { handle, stats };
    } catch (error) {
      await handle.close();
      throw error;
    }
  });
}

/** Everything but a regular file is refused, each with what to do instead. */
export function refuseSpecial(stats: StatsBase<number | bigint>, path: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new Fault("file/not-a-file", `${path} is a directory; list it instead.`);
  const kind = stats.isFIFO() ? "pipe" : stats.isSocket() ? "socket" : "device";
  throw new Fault("file/not-a-file", `${path} is a ${kind}; only regular files are read and written. Use a command.`);
}
