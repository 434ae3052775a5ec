import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { ignore } from "../base/index.ts";

/** Our own cgroup v2 directory, if leaves may be made in it (cgroups(7), "delegation"); else undefined. */
export function findCgroup(root = "/sys/fs/cgroup"): string | undefined {
  try {
    const line = readFileSync("/proc/self/cgroup", "utf8")
      .split("\n")
      .find((text) => text.startsWith("0::"));
    if (line === undefined) return undefined;
    const directory = join(root, line.slice("0::".length));
    accessSync(join(directory, "cgroup.controllers"), constants.R_OK);
    accessSync(directory, constants.W_OK);
    accessSync(join(directory, "cgroup.procs"), constants.W_OK);
    return directory;
  } catch (error) {
    ignore(error, "without a delegated cgroup, limits are watched by the shim");
    return undefined;
  }
}
