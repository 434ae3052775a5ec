import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../contract/index.ts";

/** A file of somebody else's that is changed with care. */
export interface ConfigFile {
  readonly path: string;
  /** Empty when there is no file yet. */
  readonly text: string;
  readonly exists: boolean;
  readonly mode: number;
}

/** Reads it; a link is followed, so that its target is changed and the link stays. */
export function readConfigFile(given: string): ConfigFile {
  try {
    const path = realpathSync(given);
    return { path, text: readFileSync(path, "utf8"), exists: true, mode: statSync(path).mode & 0o777 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw toFault(given, error);
    return { path: given, text: "", exists: false, mode: 0o644 };
  }
}

/** Puts the text in its place in one step and returns where the old one is kept. Refuses when somebody else changed it meanwhile. */
export function writeConfigFile(file: ConfigFile, text: string, now: Date): string | undefined {
  const { path, exists, mode } = file;
  if (readConfigFile(path).text !== file.text) {
    throw new Fault("request/invalid", `${path} was changed in the meantime; nothing was written. Try again.`);
  }
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const backup = exists ? `${path}.${stamp}.bak` : undefined;
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (backup) copyFileSync(path, backup, constants.COPYFILE_EXCL);
    const fd = openSync(temporary, "wx", mode);
    try {
      fchmodSync(fd, mode);
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw toFault(path, error);
  }
  return backup;
}

function toFault(path: string, error: unknown): Fault {
  const detail = error instanceof Error ? error.message : String(error);
  return new Fault("file/failed", `${path} cannot be read or written.`, { detail, cause: error });
}
