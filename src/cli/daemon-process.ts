import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import type { Settings } from "./config.ts";

/** A daemon that is not ready by then has a problem that its log tells. Adopting thousands of processes takes two seconds. */
const READY_MS = 10_000;
/** Between two looks at the socket. */
const LOOK_MS = 15;
/** A daemon that lost the race, or met one that was just ending, is tried again after this long. */
const AGAIN_MS = 250;
/** A longer log of background daemons is put aside once. */
const LOG_BYTES = 8 << 20;
/** Shown of the log when the daemon does not come up. */
const LOG_TAIL_LINES = 15;
/**
 * V8's bound for young objects, in MB for each of its halves. Its own bound of 16 lets the daemon grow by 30 MB while somebody
 * follows much output, and gains it nothing: next to all that it makes is garbage at once.
 */
const YOUNG_MB = 4;
/** Kernel's sockaddr_un: 108 bytes with the final zero (unix(7)). */
const SOCKET_PATH_BYTES = 107;

/** What a running daemon says about itself in its home. */
export interface DaemonFile {
  url: string;
  socket: string;
  pid: number;
  version: string;
  protocol: number;
  machine_id: string;
  started_at: string;
}

export function readDaemonFile(home: string): DaemonFile | undefined {
  try {
    return JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as DaemonFile;
  } catch (error) {
    ignore(error, "absent before the first daemon; a broken one is rewritten by the next");
    return undefined;
  }
}

/** Where the daemon of a home listens; the client copes with a path that is too long for a socket address. */
export function socketOf(home: string): string {
  return join(home, "drover.sock");
}

/** Whether a daemon accepts connections there. */
export async function answers(home: string): Promise<boolean> {
  // A home that is too deep for a socket address is reached through an open directory, whose name in /proc is short.
  const isLong = Buffer.byteLength(socketOf(home)) > SOCKET_PATH_BYTES;
  if (!isLong) return accepts(socketOf(home));
  if (!existsSync(home)) return false;
  const directory = openSync(home, "r");
  try {
    return await accepts(`/proc/self/fd/${directory}/drover.sock`);
  } finally {
    closeSync(directory);
  }
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/**
 * Starts a daemon of its own session and returns when it answers. Two callers may race: the home's lock decides, the
 * loser's daemon ends with success, and both wait for the same socket.
 */
export async function startDaemon(settings: Settings): Promise<void> {
  const home = makeHome(settings.home);
  const log = openLog(home);
  const begin = fstatSync(log).size;
  try {
    const deadline = Date.now() + READY_MS;
    let child = launch(settings, log);
    let endedAt: number | undefined;
    while (Date.now() < deadline) {
      if (await answers(home)) return;
      if (hasFailed(child)) throw startFailed(home, log, begin, `it ended with ${ending(child)}`);
      if (child.exitCode === 0) {
        endedAt ??= Date.now();
        if (Date.now() - endedAt > AGAIN_MS) {
          child = launch(settings, log);
          endedAt = undefined;
        }
      }
      await sleep(LOOK_MS);
    }
    throw startFailed(home, log, begin, `it was not ready after ${READY_MS / 1000} s`);
  } finally {
    closeSync(log);
  }
}

function makeHome(home: string): string {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return home;
  } catch (error) {
    throw new Fault("daemon/home-unusable", `the home ${home} cannot be made.`, {
      detail: String((error as Error).message),
      cause: error,
    });
  }
}

function openLog(home: string): number {
  const path = join(home, "daemon.log");
  try {
    const log = openSync(path, "a+", 0o600);
    if (fstatSync(log).size < LOG_BYTES) return log;
    closeSync(log);
    renameSync(path, `${path}.1`);
    return openSync(path, "a+", 0o600);
  } catch (error) {
    throw new Fault("daemon/home-unusable", `${path} cannot be written.`, {
      detail: String((error as Error).message),
      cause: error,
    });
  }
}

function launch(settings: Settings, log: number): ChildProcess {
  const main = fileURLToPath(new URL("./main.js", import.meta.url));
  const options = [`--max-semi-space-size=${YOUNG_MB}`];
  const child = spawn(process.execPath, [...options, main, "serve", "--background", "--home", settings.home], {
    cwd: "/",
    // A session of its own: the terminal's signals and its end do not reach it.
    detached: true,
    stdio: ["ignore", log, log],
    env: settings.daemonEnvironment,
  });
  child.once("error", (error) => ignore(error, "seen as an exit by the loop that waits"));
  child.unref();
  return child;
}

function hasFailed(child: ChildProcess): boolean {
  return child.pid === undefined || child.signalCode !== null || (child.exitCode !== null && child.exitCode !== 0);
}

function ending(child: ChildProcess): string {
  return child.signalCode ?? (child.exitCode === null ? "no process at all" : `code ${child.exitCode}`);
}

function startFailed(home: string, log: number, begin: number, how: string): Fault {
  const size = Math.min(Math.max(0, fstatSync(log).size - begin), 64 << 10);
  const text = Buffer.alloc(size);
  readSync(log, text, 0, size, fstatSync(log).size - size);
  const tail = text.toString("utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
  return new Fault("daemon/start-failed", `the daemon did not come up: ${how}.`, {
    detail: `${tail ? `${tail}\n` : ""}The whole log: ${join(home, "daemon.log")}`,
  });
}
