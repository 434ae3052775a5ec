import { execFileSync } from "node:child_process";
import { constants, lstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import { type Hint, HintParser } from "./hint.ts";

/** The reading end of DROVER_HOME/hints. Its inode stays, so shims older than this daemon keep writing into it. */
export class HintReader {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static open(home: string, onHint: (hint: Hint) => void): HintReader {
    const path = join(home, "hints");
    makeFifo(path);
    // O_RDWR: never end of file, never blocks in open (fifo(7)).
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const socket = new Socket({ fd, readable: true, writable: false });
    const parser = new HintParser();
    socket.on("data", (chunk) => {
      for (const hint of parser.push(chunk)) onHint(hint);
    });
    socket.on("error", (error) => ignore(error, "hints may be lost; the sweep reads the state files"));
    return new HintReader(socket);
  }

  close(): void {
    this.#socket.destroy();
  }
}

function makeFifo(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFIFO()) return;
  if (found) throw new Fault("daemon/home-unusable", `${path} is not a FIFO; move it away.`);
  try {
    execFileSync("mkfifo", ["-m", "600", path], { stdio: ["ignore", "ignore", "pipe"] });
  } catch (cause) {
    throw new Fault("daemon/home-unusable", `${path} cannot be made.`, { cause });
  }
}
