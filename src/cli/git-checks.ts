import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ignore } from "../base/index.ts";
import type { GitFacts } from "../contract/index.ts";
import type { Check } from "./machine-checks.ts";

/** A large repository has some thousands of directories, and editors watch them too. */
const WATCHES_LEAST = 65_536;

/** What the git watch needs of this machine. */
export function checkGit(path: string): Check[] {
  return [checkProgram(path), checkWatches()];
}

/** How the daemon watches right now; without anybody who watches there is nothing to say. */
export function checkGitWatch(facts: GitFacts | undefined): Check[] {
  if (!facts || facts.repositories === 0) return [];
  const name = "git watch";
  const found = `${facts.repositories} repositories for ${facts.connections} connections`;
  if (facts.polled === 0) return [{ name, state: "ok", found: `${found}, by file-system events` }];
  return [
    {
      name,
      state: "warn",
      found: `${found}; ${facts.polled} polled: ${facts.reasons.join("; ")}`,
      advice:
        "Changes there show up within 5 s instead of 1.5 s. More watches: sysctl fs.inotify.max_user_watches=524288",
    },
  ];
}

function checkProgram(path: string): Check {
  const name = "git";
  const place = path.split(delimiter).find((directory) => isExecutable(join(directory, "git")));
  if (place !== undefined) return { name, state: "ok", found: join(place, "git") };
  return { name, state: "warn", found: "not on the PATH", advice: "Repositories cannot be watched without it." };
}

function checkWatches(): Check {
  const name = "inotify watches";
  try {
    const found = readFileSync("/proc/sys/fs/inotify/max_user_watches", "utf8").trim();
    if (Number(found) >= WATCHES_LEAST) return { name, state: "ok", found };
    const advice = `Large repositories will be polled. More: sysctl fs.inotify.max_user_watches=${WATCHES_LEAST * 8}`;
    return { name, state: "warn", found, advice };
  } catch (error) {
    ignore(error, "reported as a line");
    return { name, state: "warn", found: "none here", advice: "Repositories are polled every 5 s." };
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    ignore(error, "absent or not executable: both mean no");
    return false;
  }
}
