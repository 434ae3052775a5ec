import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Where and of what a run was made: numbers without this are hearsay. */
export function describeRun(directory) {
  const git = (...words) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const isDirty = git("status", "--porcelain", "--untracked-files=no") !== "";
  return {
    machine: `${os.cpus()[0]?.model ?? "unknown CPU"}, ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GB`,
    kernel: `${os.type()} ${os.release()}, huge pages ${chosen("/sys/kernel/mm/transparent_hugepage/enabled")}`,
    node: process.version,
    commit: git("rev-parse", "--short", "HEAD") + (isDirty ? " (dirty)" : ""),
    load: os
      .loadavg()
      .map((load) => load.toFixed(2))
      .join(" "),
    directory,
    date: new Date().toISOString().slice(0, 16),
  };
}

/** The bracketed word of a kernel setting such as `always [madvise] never`. */
function chosen(path) {
  try {
    return /\[(\w+)\]/.exec(readFileSync(path, "utf8"))?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}
