import { execFile } from "node:child_process";
import { constants } from "node:os";
import type { Identity } from "./identity.ts";

/** Arguments of one call: far below the kernel's limit. */
const BATCH = 1_000;
/** It only opens pidfds and signals; when it takes this long the machine is stuck. */
const SIGNAL_MS = 10_000;

/**
 * Signals processes that were proven to be ours: pinned by pidfd, start time proven, then signalled (`drover-shim signal`), so
 * that a reused pid is never hit. `errno` 0: sent; ESRCH: it is gone, or somebody else has its pid.
 */
export async function signalByIdentity(
  shimPath: string,
  signo: number,
  who: readonly Identity[],
): Promise<{ pid: number; errno: number }[]> {
  const results: { pid: number; errno: number }[] = [];
  for (let from = 0; from < who.length; from += BATCH) {
    const batch = who.slice(from, from + BATCH);
    const told = await run(shimPath, ["signal", String(signo), ...batch.map(({ pid, start }) => `${pid}:${start}`)]);
    results.push(...batch.map(({ pid }) => ({ pid, errno: told.get(pid) ?? constants.errno.EIO })));
  }
  return results;
}

/** One line for each: `PID ERRNO`. */
async function run(path: string, args: string[]): Promise<Map<number, number>> {
  const output = await new Promise<string>((resolve, reject) => {
    execFile(path, args, { timeout: SIGNAL_MS, env: {} }, (error, stdout) => {
      // Exit 1 only says that some were not reached; the lines say which.
      if (error && stdout === "") reject(error);
      else resolve(stdout);
    });
  });
  const lines = output.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => line.split(" ").map(Number)).map(([pid = 0, errno = 0]) => [pid, errno]));
}
