import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { ignore } from "../base/index.ts";

/** Where a repository keeps its things. In a linked work tree the common directory is that of the main one. */
export interface RepositoryPlaces {
  readonly root: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/**
 * The nearest repository that holds a path, with symbolic links resolved; a file, or something that is not there, counts as its
 * parent. Looked for without git: it costs a few stat(2), and a repository that git refuses (safe.directory) is found too.
 */
export async function findRepository(path: string): Promise<RepositoryPlaces | undefined> {
  if (!isAbsolute(path) || path.includes("\0")) return undefined;
  let at = await nearestDirectory(path);
  while (at !== undefined) {
    const places = await placesOf(at);
    if (places) return places;
    const parent = dirname(at);
    at = parent === at ? undefined : parent;
  }
  return undefined;
}

/** What is at this root now; undefined when it is no repository any more. */
export async function placesOf(root: string): Promise<RepositoryPlaces | undefined> {
  const dot = join(root, ".git");
  const facts = await statOf(dot);
  const gitDir = facts?.isDirectory() ? dot : facts?.isFile() ? await followFile(dot) : undefined;
  if (gitDir === undefined) return undefined;
  const common = await readText(join(gitDir, "commondir"));
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trim());
  // As git itself judges (`is_git_directory`).
  const [head, objects, refs] = await Promise.all([
    readText(join(gitDir, "HEAD")),
    statOf(join(commonDir, "objects")),
    statOf(join(commonDir, "refs")),
  ]);
  const isWhole = head !== undefined && objects?.isDirectory() && refs?.isDirectory();
  return isWhole ? { root, gitDir, commonDir } : undefined;
}

async function nearestDirectory(path: string): Promise<string | undefined> {
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      const real = await realpath(at);
      if ((await stat(real)).isDirectory()) return real;
    } catch (error) {
      ignore(error, "not there, or not ours to see: its parent may be");
    }
    if (dirname(at) === at) return undefined;
  }
}

/** A `.git` file of a worktree or a submodule: `gitdir: PATH`. */
async function followFile(path: string): Promise<string | undefined> {
  const target = /^gitdir: (.+?)\r?\n?$/s.exec((await readText(path)) ?? "")?.[1];
  return target === undefined ? undefined : resolve(dirname(path), target);
}

/** These files hold a line; a longer one is none of them. */
const LINE_BYTES = 64 << 10;

async function readText(path: string): Promise<string | undefined> {
  const facts = await statOf(path);
  if (!facts?.isFile() || facts.size > LINE_BYTES) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    ignore(error, "undefined says it");
    return undefined;
  }
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    ignore(error, "undefined says it");
    return undefined;
  }
}
