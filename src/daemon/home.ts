import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../contract/index.ts";

/** What nobody else may read. Others are made by those who own them. */
const secrets = ["token", "key", "drover.sock", "drover.db", "lock", "hints", "config.json"];
const dirs = ["run", "quarantine"];

/** DROVER_HOME is ours alone: made when missing, narrowed when it is too open, refused when it is somebody else's. */
export function openHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unusable(`${home} cannot be made.`, "choose another place with DROVER_HOME or --home", cause);
  }
  const found = lstatSync(home);
  if (!found.isDirectory() && !found.isSymbolicLink())
    throw unusable(`${home} is not a directory.`, `move it away: mv ${home} ${home}.old`);
  narrow(home, 0o700);
  for (const name of dirs) narrow(join(home, name), 0o700);
  for (const name of secrets) narrow(join(home, name), 0o600);
}

function narrow(path: string, mode: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  const own = process.getuid?.() ?? found.uid;
  if (found.uid !== own) {
    throw unusable(`${path} belongs to uid ${found.uid}, not to ${own}.`, `run: sudo chown -R ${own} ${path}`);
  }
  // A link's own mode means nothing; what it leads to is the owner's business.
  if (found.isSymbolicLink() || (found.mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode);
  } catch (cause) {
    throw unusable(`${path} is open to others.`, `run: chmod ${mode.toString(8)} ${path}`, cause);
  }
}

function unusable(what: string, advice: string, cause?: unknown): Fault {
  return new Fault("daemon/home-unusable", `${what} To repair it, ${advice}`, { cause });
}
