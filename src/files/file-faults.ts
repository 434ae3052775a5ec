import { Fault, type FaultCode } from "../contract/index.ts";
import { badPath } from "./checked-path.ts";

/** What the kernel said about a path, as a fault; anything that is not its word is passed on as it is. */
export function toFileFault(error: unknown, path: string, doing: string): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  if (code === "ELOOP") return badPath(`${path} goes round in symbolic links.`, "name the file itself");
  if (code === "ENAMETOOLONG") return badPath("A name in the path is too long.", "a name may have 255 bytes");
  const [fault, message] = words[code] ?? ["file/failed", `The file system failed to ${doing} %.`];
  return new Fault(
    fault,
    message.replace("%", () => path),
    { detail: error.message, cause: error },
  );
}

/** Runs one piece of work on a path; what fails comes out as a fault. */
export async function withFaults<T>(path: string, doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFileFault(error, path, doing);
  }
}

const full = "No space is left on the device of %; nothing was changed. Free some, then try again.";
const words: Record<string, readonly [FaultCode, string]> = {
  ENOENT: ["file/not-found", "% does not exist."],
  EACCES: ["file/forbidden", "The daemon's user has no permission for %."],
  EPERM: ["file/forbidden", "The kernel does not permit this for %."],
  EROFS: ["file/forbidden", "% is on a read-only file system."],
  ENOTDIR: ["file/not-a-directory", "A part of % is not a directory."],
  EISDIR: ["file/not-a-file", "% is a directory; list it instead."],
  ENXIO: ["file/not-a-file", "% is a pipe, socket or device; only regular files are read and written."],
  ENOSPC: ["file/disk-full", full],
  EDQUOT: ["file/disk-full", full.replace("No space", "No quota")],
  EFBIG: ["file/too-large", "% would be larger than its file system allows."],
};
