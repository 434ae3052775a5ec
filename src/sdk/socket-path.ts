import { closeSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";

/** `sun_path` of unix(7) holds 108 bytes with its ending NUL. */
const SUN_PATH_BYTES = 107;

/** A path that fits into a socket address: a long one goes through a descriptor of its directory, kept until `close`. */
export function createSocketPath(path: string): { get(): string; close(): void } {
  let directory: number | undefined;
  return {
    get() {
      if (Buffer.byteLength(path) <= SUN_PATH_BYTES) return path;
      directory ??= openSync(dirname(path), "r");
      return `/proc/self/fd/${directory}/${basename(path)}`;
    },
    close() {
      if (directory !== undefined) closeSync(directory);
      directory = undefined;
    },
  };
}
