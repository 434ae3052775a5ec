import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { Fault, type ListDirectoryAnswer, type ListDirectoryRequest } from "../contract/index.ts";
import { checkPath, namesOf, tidyPath } from "./checked-path.ts";
import { toFileFault, withFaults } from "./file-faults.ts";

/** An answer of this many names has about 10 MB; whoever has more needs a command with a filter. */
const ENTRIES = 100_000;
/** Links looked at together; more would keep others from libuv's few threads. */
const LOOKS = 16;

export type DirectoryRequest = ListDirectoryRequest;
export type DirectoryEntry = ListDirectoryAnswer["contents"][number];

/** Names in a directory: directories first, then by name. */
export async function listDirectory(request: DirectoryRequest): Promise<ListDirectoryAnswer> {
  const directory = tidyPath(checkPath(toPath(request)));
  const entries = await withFaults(directory, "list", () => readEntries(directory));
  const under = directory === "/" ? "" : directory;
  const contents: DirectoryEntry[] = [];
  for (let at = 0; at < entries.length; at += LOOKS) {
    const some = entries.slice(at, at + LOOKS).map(async (entry) => {
      const path = `${under}/${entry.name}`;
      return { name: entry.name, absolute_path_string: path, is_dir: await isDirectory(entry, path) };
    });
    contents.push(...(await Promise.all(some)));
  }
  contents.sort((a, b) => Number(b.is_dir) - Number(a.is_dir) || compare(a.name, b.name));
  return { absolute_path: namesOf(directory), absolute_path_string: directory, contents };
}

function toPath({ path = [], relativity }: DirectoryRequest): string {
  if (typeof path === "string" && path !== "") return path;
  const names = typeof path === "string" ? [] : path;
  return [relativity === "home" ? homedir() : "", ...names].join("/") || "/";
}

async function readEntries(path: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  // The directory closes itself when the loop is left.
  for await (const entry of await openDirectory(path)) {
    entries.push(entry);
    if (entries.length > ENTRIES) {
      throw new Fault(
        "file/too-large",
        `${path} holds more than ${ENTRIES} names. List it with a command that filters.`,
      );
    }
  }
  return entries;
}

async function openDirectory(path: string): ReturnType<typeof opendir> {
  try {
    return await opendir(path, { bufferSize: 512 });
  } catch (error) {
    const isFile = (error as NodeJS.ErrnoException).code === "ENOTDIR" && (await exists(path));
    if (isFile)
      throw new Fault("file/not-a-directory", `${path} is not a directory; read it instead.`, { cause: error });
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** A link to a directory can be entered, so it counts as one; a link that leads nowhere is a name like any other. */
async function isDirectory(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return stat(path).then(
    (stats) => stats.isDirectory(),
    (error: unknown) => {
      if (toFileFault(error, path, "look at") === error) throw error;
      return false;
    },
  );
}

/** By code unit, as `ls` in the C locale: the same everywhere. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
