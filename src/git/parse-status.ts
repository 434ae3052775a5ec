import type { GitFile } from "../contract/index.ts";

/** One changed path as `git status` tells it. Paths are bytes: not every name is UTF-8. */
export interface StatusEntry {
  path: Buffer;
  oldPath?: Buffer;
  status: GitFile["status"];
  staged: boolean;
  unstaged: boolean;
  /** The entry is a submodule; `moved`: its commit differs from the one in the index. */
  submodule?: { moved: boolean };
  /** Bytes of an object's name here tell the repository's hash. */
  hash?: string;
}

export interface Status {
  /** Absent before the first commit. */
  head?: string;
  /** Empty when HEAD is detached. */
  branch: string;
  upstream?: string;
  ahead?: number;
  behind?: number;
  entries: StatusEntry[];
}

const NUL = 0;

/** `git status --porcelain=v2 --branch -z` (git-status(1), "Porcelain Format Version 2"). Unknown lines are passed over. */
export function parseStatus(output: Buffer): Status {
  const status: Status = { branch: "", entries: [] };
  let at = 0;
  const next = (): Buffer | undefined => {
    if (at >= output.length) return undefined;
    const end = output.indexOf(NUL, at);
    const record = output.subarray(at, end === -1 ? output.length : end);
    at = end === -1 ? output.length : end + 1;
    return record;
  };
  for (let record = next(); record; record = next()) {
    const kind = String.fromCharCode(record[0] ?? NUL);
    if (kind === "#") readHeader(status, record.toString());
    else if (kind === "?") status.entries.push(untracked(record.subarray(2)));
    else if (kind === "1") status.entries.push(changed(record, 8));
    else if (kind === "u") status.entries.push({ ...changed(record, 10), status: "unmerged" });
    else if (kind === "2") {
      const entry = changed(record, 9);
      const oldPath = next();
      status.entries.push(oldPath ? { ...entry, oldPath } : entry);
    }
  }
  return status;
}

function readHeader(status: Status, line: string): void {
  const [, name = "", value = ""] = /^# (\S+) (.*)$/s.exec(line) ?? [];
  if (name === "branch.oid" && value !== "(initial)") status.head = value;
  if (name === "branch.head" && value !== "(detached)") status.branch = value;
  if (name === "branch.upstream") status.upstream = value;
  const [, ahead, behind] = (name === "branch.ab" && /^\+(\d+) -(\d+)$/.exec(value)) || [];
  if (ahead === undefined) return;
  status.ahead = Number(ahead);
  status.behind = Number(behind);
}

function untracked(path: Buffer): StatusEntry {
  return { path, status: "untracked", staged: false, unstaged: true };
}

/** `fields` stand before the path, with a blank behind each; the path itself may hold blanks. */
function changed(record: Buffer, fields: number): StatusEntry {
  let start = 0;
  for (let i = 0; i < fields; i++) start = record.indexOf(0x20, start) + 1;
  const words = record.toString("latin1", 0, start).split(" ");
  const [, xy = "..", sub = "N..."] = words;
  const index = xy[0] ?? ".";
  const tree = xy[1] ?? ".";
  const hash = words[7];
  return {
    path: record.subarray(start),
    status: meaningOf(index, tree),
    staged: index !== ".",
    unstaged: tree !== ".",
    ...(sub.startsWith("S") && { submodule: { moved: sub[1] === "C" } }),
    ...(hash && { hash }),
  };
}

const meanings: Record<string, GitFile["status"]> = {
  M: "modified",
  A: "added",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type_changed",
  U: "unmerged",
};

/** What it is, seen from HEAD to the work tree: a file that was added and then changed is an added one. */
function meaningOf(index: string, tree: string): GitFile["status"] {
  if (tree === "D") return "deleted";
  const first = index !== "." && index !== "M" ? index : tree === "." ? index : tree;
  return meanings[first] ?? "modified";
}
