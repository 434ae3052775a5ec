import { chmodSync, closeSync, lstatSync, openSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { basename, dirname } from "node:path";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";

/** `sun_path` of unix(7) holds 108 bytes with its ending NUL; a longer path is reached through its directory's descriptor. */
const SUN_PATH_BYTES = 107;

/** A free place for a listening socket. */
export interface SocketPlace {
  readonly bindPath: string;
  /** Runs the bind so that nobody but the owner can ever connect. */
  guard(bind: () => void): void;
  /** After the server is closed, which removes the socket through `bindPath`. */
  close(): void;
}

export async function openSocketPath(path: string): Promise<SocketPlace> {
  const isLong = Buffer.byteLength(path) > SUN_PATH_BYTES;
  const directory = isLong ? openSync(dirname(path), "r") : undefined;
  const bindPath = directory === undefined ? path : `/proc/self/fd/${directory}/${basename(path)}`;
  const close = () => {
    if (directory !== undefined) closeSync(directory);
  };
  try {
    await removeStale(path, bindPath);
  } catch (error) {
    close();
    throw error;
  }
  return { bindPath, guard: (bind) => bindPrivately(bind, bindPath), close };
}

/** Node binds inside `listen`, so the umask can be narrowed around it; chmod then takes away the needless execute bit. */
function bindPrivately(bind: () => void, bindPath: string): void {
  const before = process.umask(0o077);
  try {
    bind();
    chmodSync(bindPath, 0o600);
  } finally {
    process.umask(before);
  }
}

/** What a killed daemon left behind is removed; what answers, or is no socket, is left alone. */
async function removeStale(path: string, bindPath: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) {
    throw new Fault("daemon/home-unusable", `${path} is in the way and is not a socket. Move it elsewhere.`);
  }
  if (await answers(bindPath)) throw new Fault("daemon/already-running", `Another daemon answers at ${path}.`);
  rmSync(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") {
        ignore(error, "nobody listens: the answer that was looked for");
        resolve(false);
      } else reject(error);
    });
  });
}
