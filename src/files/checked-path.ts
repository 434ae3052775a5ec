import { posix } from "node:path";
import { Fault } from "../contract/index.ts";

/** PATH_MAX of limits.h counts the ending NUL. */
const PATH_BYTES = 4095;

/** The path if the kernel could take it: absolute, without NUL, not too long. */
export function checkPath(path: string): string {
  if (path === "") throw badPath("A path is needed.", "it is empty; give an absolute path such as /home/me/file");
  if (path.includes("\0"))
    throw badPath("The path holds a NUL character.", "remove the NUL; no file has one in its name");
  if (!path.startsWith("/")) {
    const meant = path.startsWith("~") ? "write the home directory out" : "put the working directory in front of it";
    throw badPath(`The path "${shown(path)}" is relative.`, `it must begin with "/"; ${meant}`);
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > PATH_BYTES) throw badPath(`The path has ${bytes} bytes.`, `at most ${PATH_BYTES} are possible`);
  return path;
}

/** The same path spelt the same way: without doubled slashes, `.` and an ending slash. `..` is left to the file system. */
export function tidyPath(path: string): string {
  return `/${namesOf(path).join("/")}`;
}

/** The names that a path is made of. */
export function namesOf(path: string): string[] {
  return path.split(posix.sep).filter((name) => name !== "" && name !== ".");
}

export function badPath(message: string, detail: string): Fault {
  return new Fault("file/bad-path", `${message} ${detail[0]?.toUpperCase()}${detail.slice(1)}.`, {
    validations: [{ field: "path", detail }],
  });
}

function shown(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
