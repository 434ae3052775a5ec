import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ignore } from "../base/index.ts";
import { Fault, type ProcessId, type ProcessMeta, toProcessId } from "../contract/index.ts";
import { checkMeta } from "./meta.ts";
import { STATE_BYTES } from "./protocol.ts";
import { parseState, type RunState } from "./state-file.ts";

/** A shim may be rewriting a slot while it is read; a slot that stays torn is corrupt. */
const STATE_READS = 3;
/** A directory about to be removed has this name, so that a crash in the middle never leaves half a record. */
const GONE = ".gone-";
/** The directory that the next process gets. */
const SPARE = ".spare";
const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;

/** DROVER_HOME/run. Everything is reached through one directory descriptor: a socket's path may have 108 bytes only. */
export class RunDirectories {
  readonly #home: string;
  readonly #fd: number;
  readonly #root: string;
  #hasSpare = false;

  private constructor(home: string, fd: number) {
    this.#home = home;
    this.#fd = fd;
    this.#root = `/proc/self/fd/${fd}`;
  }

  static open(home: string): RunDirectories {
    const absolute = resolve(home);
    const run = join(absolute, "run");
    try {
      mkdirSync(run, { recursive: true, mode: 0o700 });
      const dirs = new RunDirectories(absolute, openSync(run, constants.O_RDONLY | constants.O_DIRECTORY));
      dirs.#finishRemovals();
      return dirs;
    } catch (cause) {
      throw new Fault("daemon/home-unusable", `${run} cannot be used.`, { cause });
    }
  }

  /** Names that are ids; others are ignored. */
  list(): ProcessId[] {
    return readdirSync(this.#root).flatMap((name) => toProcessId(name) ?? []);
  }

  /** Makes the directory and its meta. When the disk is full: Fault store/disk-full, and nothing is left behind. */
  create(meta: ProcessMeta): void {
    const dir = this.#inside(meta.id);
    const bytes = Buffer.from(JSON.stringify(meta));
    if (this.#useSpare(dir, bytes)) return;
    try {
      mkdirSync(dir, 0o700);
    } catch (error) {
      throw diskFault(error);
    }
    try {
      writeWhole(`${dir}/meta`, bytes, NEW_FILE);
    } catch (error) {
      undoCreate(dir);
      throw diskFault(error);
    }
  }

  /**
   * Makes the next directory beforehand, at a moment when the caller waits for something else anyway: new inodes are the dear
   * part of `create`, a millisecond and more where a file system avoids those that were freed of late (ext4).
   */
  prepare(): void {
    if (this.#hasSpare) return;
    const spare = `${this.#root}/${SPARE}`;
    try {
      mkdirSync(spare, 0o700);
      closeSync(openSync(`${spare}/meta`, NEW_FILE, 0o600));
      this.#hasSpare = true;
    } catch (error) {
      ignore(error, "`create` makes its own, or says why it cannot");
      rmSync(spare, { recursive: true, force: true });
    }
  }

  /** Throws an Error with words when it is missing or corrupt. */
  readMeta(id: ProcessId): ProcessMeta {
    let text: string;
    try {
      text = readFileSync(`${this.#inside(id)}/meta`, "utf8");
    } catch (cause) {
      throw new Error("meta cannot be read", { cause });
    }
    return checkMeta(text, id);
  }

  /** True: no shim will ever run it. False: a shim has claimed it. */
  claimVoid(id: ProcessId): boolean {
    const path = `${this.#inside(id)}/claim`;
    try {
      writeFileSync(path, "void\n", { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === "EEXIST") return this.hasClaim(id) === "void";
      if (code === "ENOENT") return true; // no directory: a shim cannot enter it either
      if (lstatSync(path, { throwIfNoEntry: false })) return true; // made by us, though its text found no room
      throw diskFault(error);
    }
  }

  /** An empty claim is a shim's: it decides, then writes. */
  hasClaim(id: ProcessId): "started" | "void" | undefined {
    try {
      return readFileSync(`${this.#inside(id)}/claim`, "latin1").startsWith("void") ? "void" : "started";
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Undefined: no (whole) state file yet. Throws an Error when it is corrupt. */
  readState(id: ProcessId): RunState | undefined {
    const bytes = Buffer.allocUnsafe(STATE_BYTES);
    for (let attempt = 1; ; attempt++) {
      if (!this.readStateBytes(id, bytes)) return undefined;
      try {
        return parseState(bytes);
      } catch (error) {
        if (attempt === STATE_READS) throw error;
        ignore(error, "the shim may have been writing; read again");
      }
    }
  }

  /** Fills `into` with the raw state file; false when there is none yet. */
  readStateBytes(id: ProcessId, into: Buffer): boolean {
    let fd: number;
    try {
      fd = this.openFile(id, "state");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    }
    try {
      return readSync(fd, into, 0, STATE_BYTES, 0) === STATE_BYTES;
    } finally {
      closeSync(fd);
    }
  }

  /** A reading descriptor on one of its files; the caller closes it. */
  openFile(id: ProcessId, name: string): number {
    return openSync(`${this.#inside(id)}/${name}`, constants.O_RDONLY | constants.O_NOFOLLOW);
  }

  remove(id: ProcessId): void {
    const gone = this.#putAside(id);
    if (gone) rmSync(gone, { recursive: true, force: true });
  }

  /**
   * Gone at once for everybody who looks. The function that is returned removes the files without holding the event loop, for
   * which a large log can take milliseconds; the next `open` removes what it did not.
   */
  discard(id: ProcessId): () => Promise<void> {
    const gone = this.#putAside(id);
    return async () => {
      if (gone) await rm(gone, { recursive: true, force: true });
    };
  }

  /** Moves it to DROVER_HOME/quarantine/ID with a `why` file, for a person to look at. */
  quarantine(id: ProcessId, why: string): void {
    const room = join(this.#home, "quarantine");
    mkdirSync(room, { recursive: true, mode: 0o700 });
    let to = join(room, id);
    for (let n = 2; lstatSync(to, { throwIfNoEntry: false }); n++) to = join(room, `${id}.${n}`);
    renameSync(this.#inside(id), to);
    try {
      writeFileSync(join(to, "why"), `${why}\n`, { mode: 0o600 });
    } catch (error) {
      ignore(error, "the reason is in the daemon's log too");
    }
  }

  /** The real path, for the shim. */
  path(id: ProcessId): string {
    return join(this.#home, "run", id);
  }

  /** Valid in this process only. */
  controlPath(id: ProcessId): string {
    return `${this.#inside(id)}/ctl`;
  }

  /** Blocks on disk, holes not counted. */
  diskBytes(id: ProcessId): number {
    let blocks = 0;
    try {
      for (const name of readdirSync(this.#inside(id))) {
        blocks += lstatSync(`${this.#inside(id)}/${name}`, { throwIfNoEntry: false })?.blocks ?? 0;
      }
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
    return blocks * 512;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Its new path, good also after `close`; undefined when there is none. */
  #putAside(id: ProcessId): string | undefined {
    const gone = join(this.#home, "run", GONE + id);
    try {
      renameSync(this.#inside(id), gone);
      return gone;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  #useSpare(dir: string, meta: Buffer): boolean {
    if (!this.#hasSpare) return false;
    this.#hasSpare = false;
    const spare = `${this.#root}/${SPARE}`;
    try {
      writeWhole(`${spare}/meta`, meta, constants.O_WRONLY);
      renameSync(spare, dir);
      return true;
    } catch (error) {
      ignore(error, "somebody removed it, or the disk is full: the plain way will tell");
      rmSync(spare, { recursive: true, force: true });
      return false;
    }
  }

  #inside(id: ProcessId): string {
    return `${this.#root}/${id}`;
  }

  #finishRemovals(): void {
    for (const name of readdirSync(this.#root)) {
      if (name.startsWith(GONE) || name === SPARE) rmSync(`${this.#root}/${name}`, { recursive: true, force: true });
    }
  }
}

function writeWhole(path: string, bytes: Buffer, flags: number): void {
  const fd = openSync(path, flags, 0o600);
  try {
    if (writeSync(fd, bytes, 0, bytes.length) !== bytes.length)
      throw Object.assign(new Error("short write"), { code: "ENOSPC" });
  } finally {
    closeSync(fd);
  }
}

function undoCreate(dir: string): void {
  try {
    unlinkSync(`${dir}/meta`);
  } catch (error) {
    ignore(error, "it may not have been made");
  }
  try {
    rmdirSync(dir);
  } catch (error) {
    ignore(error, "adoption removes a directory without meta");
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function diskFault(error: unknown): unknown {
  const code = codeOf(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new Fault("store/disk-full", "No space is left under DROVER_HOME; nothing was started.", { cause: error });
}
