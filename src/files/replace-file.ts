import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, renameSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import { checkPath } from "./checked-path.ts";
import { toFileFault, withFaults } from "./file-faults.ts";
import { refuseSpecial } from "./open-file.ts";
import { resolvePath } from "./resolve-path.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_DIRECTORY } = constants;

/** The new content of a file, complete and on the disk beside it, waiting to take its place. */
export interface Staged {
  readonly path: string;
  /** The file itself, behind all links. */
  readonly target: string;
  readonly temporary: string;
  readonly previous: BigIntStats | undefined;
  readonly bytes: number;
  /** Directories that were made for it, the outermost first. */
  readonly made: readonly string[];
  readonly note: string | undefined;
}

/** Writes new content beside a file, with the file's mode and owner. Leaves nothing behind when it fails. */
export async function stage(
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Staged> {
  if (checkPath(path).endsWith("/")) throw new Fault("file/not-a-file", `${path} names a directory, not a file.`);
  const target = await resolvePath(path);
  return withFaults(path, "write", async () => {
    const previous = await lookAt(target, path);
    const made = await makeParents(dirname(target));
    // Not made from the file's name, which may already have the most bytes that a name can have.
    const temporary = join(dirname(target), `.drover-${randomBytes(8).toString("hex")}.tmp`);
    const staged = { path, target, temporary, previous, made };
    try {
      // A new file gets what the user's umask leaves; the copy of one that exists is nobody else's until it has that one's mode.
      const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
      const handle = await open(temporary, flags, previous ? 0o600 : 0o666);
      try {
        const bytes = await writeAll(handle, content, { path, maxBytes });
        const note = previous && (await keepOwnerAndMode(handle, previous));
        await handle.sync();
        return { ...staged, bytes, note };
      } finally {
        await handle.close();
      }
    } catch (error) {
      await discard(staged);
      throw error;
    }
  });
}

/**
 * Puts staged files in their places. Those in `read` must still be what was read: if one is not, nothing is replaced. The look and
 * the renames are synchronous, so that nothing else of this daemon comes between; the directories answered a moment ago.
 */
export async function commit(
  staged: readonly Staged[],
  read: ReadonlyMap<Staged, BigIntStats> = new Map(),
): Promise<void> {
  let done = 0;
  try {
    for (const [file, before] of read) if (!isSame(before, find(file.target))) throw changed(file.path);
    for (const { temporary, target } of staged) {
      renameSync(temporary, target);
      done++;
    }
  } catch (error) {
    await Promise.all(staged.slice(done).map(discard));
    throw withWritten(toFileFault(error, staged[done]?.path ?? "", "replace"), staged.slice(0, done));
  }
  const directories = new Set(staged.flatMap(({ target, made }) => [dirname(target), ...made.map((d) => dirname(d))]));
  for (const directory of directories) await syncDirectory(directory);
}

/** Takes back what `stage` has left. */
export async function discard({ temporary, made }: Pick<Staged, "temporary" | "made">): Promise<void> {
  await unlink(temporary).catch((error: unknown) => ignore(error, "it was never made"));
  await removeDirectories(made);
}

async function removeDirectories(made: readonly string[]): Promise<void> {
  for (const directory of made.toReversed()) {
    await rmdir(directory).catch((error: unknown) => ignore(error, "somebody else uses it by now"));
  }
}

async function lookAt(target: string, path: string): Promise<BigIntStats | undefined> {
  const stats = await stat(target, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!stats) return undefined;
  refuseSpecial(stats, path);
  await provePermission(target);
  return stats;
}

/** A rename asks for the directory's permission only; a file that may not be written must stay. Opening asks for the file's. */
async function provePermission(target: string): Promise<void> {
  try {
    await (await open(target, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)).close();
  } catch (error) {
    // A program that runs cannot be written, but a new one can take its place.
    if ((error as NodeJS.ErrnoException).code !== "ETXTBSY") throw error;
  }
}

async function makeParents(directory: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = directory; !(await isThere(at)); at = dirname(at)) missing.unshift(at);
  const made: string[] = [];
  for (const path of missing) {
    try {
      await mkdir(path, 0o755);
      made.push(path);
    } catch (error) {
      // Another writer below the same new directory was faster.
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      await removeDirectories(made);
      throw error;
    }
  }
  return made;
}

async function isThere(directory: string): Promise<boolean> {
  try {
    if ((await stat(directory)).isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  throw new Fault("file/not-a-directory", `${directory} is not a directory, so no file can be below it.`);
}

async function writeAll(
  handle: FileHandle,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<number> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Fault("file/too-large", `${path} would have more than ${maxBytes} bytes.`);
    for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
  }
  return bytes;
}

/** Says what could not be kept. The owner comes first: changing it takes set-user-ID away, see chown(2). */
async function keepOwnerAndMode(handle: FileHandle, previous: BigIntStats): Promise<string | undefined> {
  const { uid, gid } = await handle.stat({ bigint: true });
  const mode = Number(previous.mode);
  if (uid === previous.uid && gid === previous.gid) {
    await handle.chmod(mode & 0o7777);
    return undefined;
  }
  try {
    await handle.chown(Number(previous.uid), Number(previous.gid));
    await handle.chmod(mode & 0o7777);
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
    // Set-user-ID for another user than before would be a gift to nobody we know.
    await handle.chmod(mode & 0o777);
    return `The file belonged to user ${previous.uid}, group ${previous.gid}; it is now user ${uid}'s, because only root may give files away.`;
  }
}

function find(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSame(a: BigIntStats, b: BigIntStats | undefined): boolean {
  return b !== undefined && a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.ctimeNs === b.ctimeNs;
}

function changed(path: string): Fault {
  return new Fault("file/changed", `${path} was changed by somebody else meanwhile. Read it again.`);
}

function withWritten(error: unknown, done: readonly Staged[]): unknown {
  if (!(error instanceof Fault) || done.length === 0) return error;
  const written = done.map(({ path }) => path);
  return new Fault(error.code, `${error.message} Already replaced: ${written.join(", ")}.`, {
    detail: error.detail,
    data: { written },
    cause: error,
  });
}

async function syncDirectory(directory: string): Promise<void> {
  try {
    const handle = await open(directory, O_RDONLY | O_DIRECTORY);
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EIO") throw toFileFault(error, directory, "store");
    ignore(error, "some file systems and directories that may not be read have no such thing; the rename has happened");
  }
}
