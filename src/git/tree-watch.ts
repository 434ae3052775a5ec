import { type Dirent, type FSWatcher, watch } from "node:fs";
import { lstat, readdir, statfs } from "node:fs/promises";
import { join, relative } from "node:path";
import { setImmediate as pause } from "node:timers/promises";
import { ignore } from "../base/index.ts";
import type { RepositoryPlaces } from "./find-repository.ts";
import { placesOf } from "./find-repository.ts";
import type { Git } from "./run-git.ts";

/** Directories watched for one repository: each costs the kernel about 1 KB, and us as much. Beyond, the repository is polled. */
const DIRECTORIES_MOST = 20_000;
/** Refs are few; somebody who keeps one directory per branch may have thousands. */
const REF_DIRECTORIES_MOST = 500;
/** Between turns of the event loop: a watch takes some 20 µs. */
const SLICE = 64;
/** New names that are looked at one by one; more at once mean a walk of everything. */
const NEW_NAMES_MOST = 1_000;
const IGNORED_MOST = 2_000;
const LIST_BYTES = 256 << 20;

/** Names in a git directory that tell of commits, staging, branches and settings; the rest is git's own bustle. */
const told = new Set(["HEAD", "index", "packed-refs", "config", "config.worktree", "MERGE_HEAD", "exclude"]);

/** NFS, CIFS, SMB2, 9P, FUSE (statfs(2)): what another machine or program writes there is no event here. */
const silentFileSystems = new Set([0x6969, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546]);

export interface TreeWatchOptions {
  readonly git: Git;
  readonly places: RepositoryPlaces;
  /** Something may have changed. */
  onChange(): void;
  /** Events cannot be had any more, and why. */
  onFailure(why: string): void;
}

/**
 * File-system events for one repository: plain watches on every directory that is not ignored, on the git directory and on its
 * refs. New directories are taken in by `settle`, which the owner calls before each scan. A name that git ignores is learnt once
 * and passed over from then on, so that a log file that grows all day costs nothing.
 */
export class TreeWatch {
  readonly #o: TreeWatchOptions;
  readonly #watches = new Map<string, FSWatcher>();
  readonly #newNames = new Set<string>();
  readonly #ignored = new Set<string>();
  readonly #suspects = new Set<string>();
  /** Submodules: git judges only what lies in its own work tree. */
  readonly #inner = new Set<string>();
  #mustWalk = true;
  #refsMoved = false;
  #closed = false;

  constructor(options: TreeWatchOptions) {
    this.#o = options;
  }

  get directories(): number {
    return this.#watches.size;
  }

  /** Takes in what is new since the last call. Resolves to true when directories were added: what happened in them before was not seen. */
  async settle(): Promise<boolean> {
    const before = this.#watches.size;
    try {
      if (this.#mustWalk) await this.#walkAll();
      else await this.#takeNew();
    } catch (error) {
      this.#fail(error);
    }
    return !this.#closed && this.#watches.size > before;
  }

  /** After a scan that found nothing: the names whose events led to it may be ignored ones. */
  async learn(): Promise<void> {
    const names = [...this.#suspects];
    this.#suspects.clear();
    if (names.length === 0 || this.#ignored.size > IGNORED_MOST) return;
    for (const path of await this.#findIgnored(names)) this.#ignored.add(path);
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watches.values()) watcher.close();
    this.#watches.clear();
  }

  async #takeNew(): Promise<void> {
    if (this.#refsMoved) await this.#watchRefs(this.#o.places.commonDir);
    if (this.#newNames.size === 0) return;
    const names = [...this.#newNames];
    this.#newNames.clear();
    const found: Candidate[] = [];
    for (const path of names) if (await isDirectory(path)) found.push({ path, isKnown: false });
    await this.#takeIn(found);
  }

  /** Every directory that holds a tracked file, and every other that is not ignored. */
  async #walkAll(): Promise<void> {
    this.#mustWalk = false;
    this.#newNames.clear();
    this.#ignored.clear();
    const { git, places } = this.#o;
    const { type } = await statfs(places.root);
    if (silentFileSystems.has(type)) throw new Error("its file system does not tell of changes made elsewhere");
    await this.#watchGitDirectory(places);
    const args = ["ls-files", "-z", "--recurse-submodules"];
    const { output } = await git.read(places.root, args, { mostBytes: LIST_BYTES });
    const tracked = directoriesOf(output.toString());
    await this.#takeIn([{ path: places.root, isKnown: true }], tracked);
  }

  async #watchGitDirectory({ gitDir, commonDir }: RepositoryPlaces): Promise<void> {
    for (const path of new Set([gitDir, commonDir, join(commonDir, "info")])) this.#watchPath(path, isTold);
    await this.#watchRefs(commonDir);
  }

  async #watchRefs(commonDir: string): Promise<void> {
    this.#refsMoved = false;
    const refs = await directoriesBelow(join(commonDir, "refs"), REF_DIRECTORIES_MOST);
    for (const path of refs) this.#watchPath(path, isRef);
  }

  /** Level by level, so that one git judges all directories of a level. */
  async #takeIn(start: Candidate[], tracked: ReadonlySet<string> = new Set()): Promise<void> {
    let level = start;
    while (level.length > 0 && !this.#closed) {
      const doubtful = level.filter((c) => !c.isKnown).map((c) => c.path);
      const ignored = await this.#findIgnored(doubtful);
      const next: Candidate[] = [];
      let count = 0;
      for (const { path } of level.filter((c) => !ignored.has(c.path))) {
        if (++count % SLICE === 0) await pause();
        if (this.#closed) return;
        next.push(...(await this.#enter(path, tracked)));
      }
      level = next;
    }
  }

  /** Watches first and looks then: what appears in between is an event. */
  async #enter(path: string, tracked: ReadonlySet<string>): Promise<Candidate[]> {
    if (!this.#watchPath(path)) return [];
    const entries = await readDirectory(path);
    const isRoot = path === this.#o.places.root;
    if (!isRoot && entries.some((entry) => entry.name === ".git")) {
      const places = await placesOf(path);
      // A submodule; a repository that is not one is its own affair.
      if (places && !tracked.has(relative(this.#o.places.root, path))) return [];
      if (places) {
        this.#inner.add(path);
        await this.#watchGitDirectory(places);
      }
    }
    return entries
      .filter((entry) => entry.isDirectory() && entry.name !== ".git")
      .map((entry) => join(path, entry.name))
      .map((child) => ({ path: child, isKnown: tracked.has(relative(this.#o.places.root, child)) }));
  }

  #watchPath(path: string, isWorth: (name: string) => boolean = () => true): boolean {
    if (this.#closed) return false;
    if (this.#watches.has(path)) return true;
    if (this.#watches.size >= DIRECTORIES_MOST) throw new Error(`more than ${DIRECTORIES_MOST} directories`);
    try {
      const isTree = isWorth !== isTold && isWorth !== isRef;
      const watcher = watch(path, { persistent: false }, (kind, name) => {
        if (name !== null && !isWorth(name)) return;
        this.#hear(path, kind, name, isTree);
      });
      watcher.on("error", (error) => this.#fail(error));
      this.#watches.set(path, watcher);
      return true;
    } catch (error) {
      if (!["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      ignore(error, "it is gone, is no directory, or is closed to git as well");
      return false;
    }
  }

  #hear(directory: string, kind: string, name: string | null, isTree: boolean): void {
    if (this.#closed) return;
    const path = name === null ? directory : join(directory, name);
    if (isTree && this.#ignored.has(path)) return;
    if (name === ".gitignore" || name === "exclude" || name === "config" || name === ".gitmodules")
      this.#mustWalk = true;
    if (name === "index") this.#ignored.clear();
    if (kind === "rename" && name !== null && (isTree || name !== "HEAD")) this.#expect(path, isTree);
    if (isTree && this.#suspects.size < NEW_NAMES_MOST) this.#suspects.add(path);
    this.#o.onChange();
  }

  /** A name came or went. A directory that went takes its watches with it; one that came is looked at by `settle`. */
  #expect(path: string, isTree: boolean): void {
    if (this.#watches.has(path)) {
      for (const [watched, watcher] of this.#watches) {
        if (watched !== path && !watched.startsWith(`${path}/`)) continue;
        watcher.close();
        this.#watches.delete(watched);
      }
    }
    if (!isTree) this.#refsMoved = true;
    else if (this.#newNames.size < NEW_NAMES_MOST) this.#newNames.add(path);
    else this.#mustWalk = true;
  }

  /** check-ignore leaves out what is tracked. What it refuses to judge counts as ignored: nobody knows how much lies there. */
  async #findIgnored(paths: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const [root, group] of this.#byWorkTree(paths)) {
      const input = Buffer.from(group.map((path) => `./${relative(root, path)}\0`).join(""));
      const args = ["check-ignore", "-z", "--stdin"];
      const answer = await this.#o.git.read(root, args, { mostBytes: LIST_BYTES, input, codes: [1, 128] });
      const names = answer.output.toString().split("\0").slice(0, -1);
      for (const path of answer.code === 128 ? group : names.map((name) => join(root, name))) found.add(path);
    }
    return found;
  }

  #byWorkTree(paths: readonly string[]): Map<string, string[]> {
    const groups = new Map<string, string[]>();
    for (const path of paths) {
      const inner = [...this.#inner].filter((root) => path.startsWith(`${root}/`)).sort((a, b) => b.length - a.length);
      const root = inner[0] ?? this.#o.places.root;
      groups.set(root, [...(groups.get(root) ?? []), path]);
    }
    return groups;
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    this.close();
    const { code, message } = error as NodeJS.ErrnoException;
    const isLimit = code === "ENOSPC" || code === "EMFILE" || code === "ENFILE";
    this.#o.onFailure(isLimit ? "the kernel's limit of watches is reached (fs.inotify.max_user_watches)" : message);
  }
}

interface Candidate {
  readonly path: string;
  /** It holds tracked files, so git need not be asked. */
  readonly isKnown: boolean;
}

const isTold = (name: string) => told.has(name);
const isRef = (name: string) => !name.endsWith(".lock");

/** Every directory on the way to a file, relative to the root. */
export function directoriesOf(list: string): Set<string> {
  const found = new Set<string>();
  for (let from = 0, end = list.indexOf("\0"); end !== -1; from = end + 1, end = list.indexOf("\0", from)) {
    let slash = list.lastIndexOf("/", end);
    while (slash > from) {
      const directory = list.slice(from, slash);
      if (found.has(directory)) break;
      found.add(directory);
      slash = list.lastIndexOf("/", slash - 1);
    }
  }
  return found;
}

async function directoriesBelow(path: string, most: number): Promise<string[]> {
  const found = [path];
  for (let i = 0; i < found.length && found.length < most; i++) {
    const at = found[i] ?? path;
    for (const entry of await readDirectory(at)) if (entry.isDirectory()) found.push(join(at, entry.name));
  }
  return found;
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    ignore(error, "it is gone again");
    return false;
  }
}

async function readDirectory(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    ignore(error, "it went while we looked");
    return [];
  }
}
