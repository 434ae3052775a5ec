import { lstat, readlink } from "node:fs/promises";
import { badPath, checkPath, namesOf } from "./checked-path.ts";
import { toFileFault } from "./file-faults.ts";

/** As many links as the kernel follows, see path_resolution(7). */
const LINKS = 40;

/** The path without symbolic links. From the first name that does not exist on, it is kept as it was given. */
export async function resolvePath(path: string): Promise<string> {
  const ahead = namesOf(checkPath(path));
  let at: string[] = [];
  let links = 0;
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    if (name === "..") {
      at.pop();
      continue;
    }
    const here = `/${[...at, name].join("/")}`;
    const found = await look(here);
    if (found === "missing") return `/${keepRest([...at, name], ahead).join("/")}`;
    if (found === "plain") {
      at.push(name);
      continue;
    }
    if (++links > LINKS) throw badPath(`${path} goes through more than ${LINKS} links.`, "name the file itself");
    if (found.link.startsWith("/")) at = [];
    ahead.unshift(...namesOf(found.link));
  }
  return `/${at.join("/")}`;
}

async function look(path: string): Promise<"missing" | "plain" | { link: string }> {
  try {
    return (await lstat(path)).isSymbolicLink() ? { link: await readlink(path) } : "plain";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "missing";
    throw toFileFault(error, path, "look at");
  }
}

function keepRest(at: string[], rest: readonly string[]): string[] {
  for (const name of rest) {
    if (name === "..") at.pop();
    else at.push(name);
  }
  return at;
}
