import { accessSync, constants, statSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { type Clock, ignore } from "../base/index.ts";
import type { Lookup } from "./launch-plan.ts";

/** A shell is looked for at every start, in a dozen directories; it does not move within a second. */
const REMEMBERED_MS = 1_000;
/** Places remembered; beyond that all are looked for again. */
const REMEMBERED_MOST = 256;

/** The real file system, with the daemon's own rights. What was found on a PATH is remembered for a moment, what was not is not. */
export class FileLookup implements Lookup {
  readonly #clock: Clock;
  readonly #found = new Map<string, { path: string; untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  directory(path: string): ReturnType<Lookup["directory"]> {
    const found = statOrUndefined(path);
    if (!found) return "missing";
    if (!found.isDirectory()) return "not-directory";
    return mayExecute(path) ? "ok" : "forbidden";
  }

  program(path: string): ReturnType<Lookup["program"]> {
    if (!statOrUndefined(path)?.isFile()) return "missing";
    return mayExecute(path) ? "executable" : "file";
  }

  search(name: string, path: string, cwd: string): string | undefined {
    const key = `${name}\0${cwd}\0${path}`;
    const nowMs = this.#clock.now();
    const known = this.#found.get(key);
    if (known && known.untilMs > nowMs) return known.path;
    const found = searchPath(this, name, path, cwd);
    if (this.#found.size >= REMEMBERED_MOST) this.#found.clear();
    if (found === undefined) this.#found.delete(key);
    else this.#found.set(key, { path: found, untilMs: nowMs + REMEMBERED_MS });
    return found;
  }
}

/** The rule behind `Lookup.search`. */
export function searchPath(
  lookup: Pick<Lookup, "program">,
  name: string,
  path: string,
  cwd: string,
): string | undefined {
  let plain: string | undefined;
  for (const entry of path.split(":")) {
    const candidate = `${isAbsolute(entry) ? entry : resolve(cwd, entry)}/${name}`;
    const found = lookup.program(candidate);
    if (found === "executable") return candidate;
    if (found === "file") plain ??= candidate;
  }
  return plain;
}

/** Where the user lives when `$HOME` does not say. */
export function homeFromPasswd(): string | undefined {
  try {
    return userInfo().homedir;
  } catch (error) {
    ignore(error, "a user id without an entry");
    return undefined;
  }
}

function statOrUndefined(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    ignore(error, "what cannot be reached is missing for us: ENOTDIR, ELOOP, EACCES on the way");
    return undefined;
  }
}

function mayExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    ignore(error, "the answer is no");
    return false;
  }
}
