import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** A real file system of a given size, so that a full disk is a full disk; undefined where one cannot be mounted. */
export function smallDisk(
  home: string,
  size: string,
): { path: string; resize(size: string): void; remove(): void } | undefined {
  const path = join(home, "small-disk");
  mkdirSync(path);
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "ignore" });
  try {
    run("mount", "-t", "tmpfs", "-o", `size=${size},mode=700`, "drover-test", path);
  } catch {
    return undefined;
  }
  return {
    path,
    resize: (to) => run("mount", "-o", `remount,size=${to}`, path),
    remove: () => run("umount", "-l", path),
  };
}
