import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { GitFile, GitRepository } from "../contract/index.ts";
import { DiffBudget } from "./diff-budget.ts";
import type { RepositoryPlaces } from "./find-repository.ts";
import { NewFiles } from "./new-files.ts";
import { DiffReader, type FileCount } from "./parse-diff.ts";
import { parseStatus, type Status, type StatusEntry } from "./parse-status.ts";
import { type Git, GitError } from "./run-git.ts";
import { SHOWN_BYTES, stampOf } from "./untracked.ts";

/** A million changed paths is a mistake (an ignore file that is missing), and their names alone would fill a frame. */
const FILES_MOST = 5_000;
/** Bytes of JSON that `files` may take, and the names in `diff_omitted`: the rest of the frame is for the diff. */
const FILES_JSON_BYTES = 512 << 10;
const OMITTED_JSON_BYTES = 128 << 10;
/** What `git status` may print: about 500,000 paths. */
const STATUS_BYTES = 64 << 20;
/** After this much diff the rest is left out unread; the counts came before it. */
const DIFF_READ_BYTES = 64 << 20;
/** The kernel stamps files with the time of its last tick: what is younger may change again without a new stamp. */
const RACY_MS = 50;

const statusArgs = [
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=all",
  "--find-renames",
  "--ahead-behind",
];
const diffArgs = [
  "diff",
  "--numstat",
  "-p",
  "-z",
  "-M",
  "-U3",
  "--inter-hunk-context=0",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--submodule=short",
];
/** Every git knows it without having it. */
const emptyTree = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;

/** Reads one repository; what did not change since the last time is not read again. */
export class SnapshotReader {
  readonly #git: Git;
  readonly #newFiles = new NewFiles();
  #last: { signature: string; entry: GitRepository } | undefined;
  #origin: { stamp: string; url: string | undefined } | undefined;

  constructor(git: Git) {
    this.#git = git;
  }

  /** The same object as the last time when nothing has changed. A GitError is part of the answer. */
  async read(places: RepositoryPlaces): Promise<GitRepository> {
    try {
      return await this.#read(places);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      const branch = this.#last?.entry.branch ?? "";
      const entry = { repo_root: places.root, branch, files: [], error: error.message };
      return this.#keep(`error ${error.message}`, entry);
    }
  }

  async #read(places: RepositoryPlaces): Promise<GitRepository> {
    const { output } = await this.#git.read(places.root, statusArgs, { mostBytes: STATUS_BYTES });
    const status = parseStatus(output);
    const shown = status.entries.slice(0, FILES_MOST);
    const [stamps, origin] = await Promise.all([stampAll(places.root, shown), this.#readOrigin(places)]);
    const signature = createHash("sha1")
      .update(output)
      .update(stamps.text)
      .update(origin ?? "")
      .digest("base64");
    if (signature === this.#last?.signature) return this.#last.entry;
    const budget = new DiffBudget();
    const { counts, error } = await this.#readDiff(places.root, status, budget);
    const newFiles = await this.#newFiles.read(
      places.root,
      shown,
      { stamps: stamps.byPath, hash: hashOf(status) },
      budget,
    );
    const files = boundFiles(shown.map((entry) => toFile(entry, counts, newFiles)));
    const entry = describe(places.root, status, { origin, files, budget, error });
    // A submodule's commits are not in the stamps of its directory.
    const isSure = stamps.isSure && !shown.some((e) => e.submodule) && error === undefined;
    return this.#keep(isSure ? signature : `${signature} ${performance.now()}`, entry);
  }

  #keep(signature: string, entry: GitRepository): GitRepository {
    const isSame = this.#last !== undefined && JSON.stringify(this.#last.entry) === JSON.stringify(entry);
    this.#last = { signature, entry: isSame && this.#last ? this.#last.entry : entry };
    return this.#last.entry;
  }

  /** Staged and unstaged together, against HEAD or, before the first commit, against nothing. */
  async #readDiff(
    root: string,
    status: Status,
    budget: DiffBudget,
  ): Promise<{ counts?: Map<string, FileCount>; error?: string }> {
    const tracked = status.entries.filter((entry) => entry.status !== "untracked");
    if (tracked.length === 0) return { counts: new Map() };
    const reader = new DiffReader(SHOWN_BYTES);
    let bytes = 0;
    const onOutput = (chunk: Buffer) => {
      bytes += chunk.length;
      reader.push(chunk);
      return bytes <= DIFF_READ_BYTES;
    };
    try {
      await this.#git.run({ root, args: [...diffArgs, ...rangeOf(status, tracked)], onOutput });
    } catch (error) {
      if (error instanceof GitError) return { error: error.message };
      throw error;
    }
    if (bytes <= DIFF_READ_BYTES) reader.end();
    // A file that was only touched has a header in the diff and nothing else; `status` has looked inside and does not name it.
    const parts = new Map(reader.parts.map(({ path, text }) => [path, text]));
    for (const { path } of tracked) {
      const key = path.toString("latin1");
      const part = parts.get(key);
      if (part) budget.take(path.toString(), part.toString());
      else if (reader.counts.has(key)) budget.omit(path.toString());
    }
    return { counts: reader.counts };
  }

  /** Read again only when the repository's own settings have changed. */
  async #readOrigin({ root, gitDir, commonDir }: RepositoryPlaces): Promise<string | undefined> {
    const own = [join(commonDir, "config"), join(gitDir, "config.worktree")];
    const stamps = await Promise.all(own.map((path) => stampOf(Buffer.from(path))));
    const stamp = stamps.map((found) => found?.stamp).join(" ");
    if (this.#origin?.stamp === stamp) return this.#origin.url;
    const args = ["config", "-z", "--get", "remote.origin.url"];
    const { code, output } = await this.#git.read(root, args, { mostBytes: 64 << 10, codes: [1] });
    this.#origin = { stamp, url: code === 0 ? output.toString().replace(/\0$/, "") : undefined };
    return this.#origin.url;
  }
}

/**
 * From HEAD, or nothing before the first commit, to the work tree, in the cheapest form that says the same. Without anything
 * staged the index is HEAD, and git looks at the named files alone; with everything staged it need not look at the work tree.
 * (Paths beside a commit make git 2.39 slow: 2 s on 50,000 files.)
 */
function rangeOf(status: Status, tracked: readonly StatusEntry[]): string[] {
  const base = status.head ?? emptyTree[hashOf(status)];
  if (!tracked.some((entry) => entry.staged)) return ["--", ...pathsOf(tracked)];
  return tracked.some((entry) => entry.unstaged) ? [base, "--"] : ["--cached", base, "--"];
}

/** Many are not named; the whole is then as quick. */
const PATHS_MOST = 500;
const PATHS_BYTES = 64 << 10;

function pathsOf(entries: readonly StatusEntry[]): string[] {
  const paths = entries.flatMap((entry) => (entry.oldPath ? [entry.oldPath, entry.path] : [entry.path]));
  const isShort = paths.length <= PATHS_MOST && paths.reduce((sum, path) => sum + path.length, 0) <= PATHS_BYTES;
  // An argument is text; a name that is none cannot be one.
  return isShort && paths.every(isUtf8) ? paths.map((path) => `:(literal)${path.toString()}`) : [];
}

export interface Stamps {
  text: string;
  byPath: Map<StatusEntry, { stamp: string; mode: number }>;
  isSure: boolean;
}

async function stampAll(root: string, entries: readonly StatusEntry[]): Promise<Stamps> {
  const byPath: Stamps["byPath"] = new Map();
  const lines: string[] = [];
  const now = Date.now();
  let isSure = true;
  const base = Buffer.from(`${root}/`);
  for (const entry of entries) {
    const found = await stampOf(Buffer.concat([base, entry.path]));
    lines.push(found?.stamp ?? "");
    if (!found) continue;
    byPath.set(entry, found);
    if (now - found.changedMs < RACY_MS) isSure = false;
  }
  return { text: lines.join("\n"), byPath, isSure };
}

function hashOf(status: Status): "sha1" | "sha256" {
  const name = status.head ?? status.entries.find((entry) => entry.hash)?.hash ?? "";
  return name.length === 64 ? "sha256" : "sha1";
}

function toFile(
  entry: StatusEntry,
  counts: Map<string, FileCount> | undefined,
  newFiles: Map<StatusEntry, Pick<GitFile, "additions" | "binary">>,
): GitFile {
  const isNew = entry.status === "untracked";
  const count = isNew ? newFiles.get(entry) : counts && (counts.get(entry.path.toString("latin1")) ?? none);
  const isBinary = isNew ? newFiles.get(entry)?.binary : counts && count?.additions === undefined;
  return {
    path: entry.path.toString(),
    ...(entry.oldPath && { old_path: entry.oldPath.toString() }),
    status: entry.status,
    staged: entry.staged,
    unstaged: entry.unstaged,
    ...(count?.additions !== undefined && {
      additions: count.additions,
      deletions: "deletions" in count ? ((count as FileCount).deletions ?? 0) : 0,
    }),
    ...(isBinary && { binary: true as const }),
    ...(entry.submodule && { submodule: true as const }),
  };
}

/** Added to the index and gone from the work tree: nothing remains of it. */
const none: FileCount = { additions: 0, deletions: 0 };

function boundFiles(files: GitFile[]): GitFile[] {
  let room = FILES_JSON_BYTES;
  const end = files.findIndex((file) => (room -= Buffer.byteLength(JSON.stringify(file)) + 1) < 0);
  return end === -1 ? files : files.slice(0, end);
}

function describe(
  root: string,
  status: Status,
  o: { origin: string | undefined; files: GitFile[]; budget: DiffBudget; error: string | undefined },
): GitRepository {
  const { head, branch, upstream, ahead, behind, entries } = status;
  const diff = o.budget.text();
  const omitted = o.budget.omitted(OMITTED_JSON_BYTES);
  return {
    repo_root: root,
    branch,
    ...(o.origin && { remote_origin: o.origin }),
    ...(diff && { unified_diff: diff }),
    ...(head !== undefined && { head }),
    ...(upstream !== undefined && { upstream }),
    ...(ahead !== undefined && { ahead }),
    ...(behind !== undefined && { behind }),
    files: o.files,
    ...(entries.length > o.files.length && { files_omitted: entries.length - o.files.length }),
    ...(omitted.length > 0 && { diff_omitted: omitted }),
    ...(o.error !== undefined && { error: o.error }),
  };
}
