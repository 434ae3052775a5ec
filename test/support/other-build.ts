import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./real-daemon.ts";

/** A copy of this build in a folder of its own, whose helpers (an empty `build/`) the caller supplies. */
export function copyBuild(): string {
  const copy = mkdtempSync(join(tmpdir(), "drover-build-"));
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(copy, "package.json"));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  mkdirSync(join(copy, "build"));
  return copy;
}
