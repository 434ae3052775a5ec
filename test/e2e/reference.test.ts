import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/real-daemon.ts";

test("the reference is what the contract says now (npm run reference)", () => {
  const copy = mkdtempSync(join(tmpdir(), "drover-reference-"));
  for (const name of ["dist", "node_modules"]) symlinkSync(join(root, name), join(copy, name));
  cpSync(join(root, "scripts"), join(copy, "scripts"), { recursive: true });
  execFileSync(process.execPath, [join(copy, "scripts/write-reference.mjs")]);
  const written = readdirSync(join(copy, "docs/reference"));
  expect(written.length).toBeGreaterThan(3);
  for (const name of written)
    expect(readFileSync(join(root, "docs/reference", name), "utf8"), name).toBe(
      readFileSync(join(copy, "docs/reference", name), "utf8"),
    );
  const tools = "src/sdk/tool-definitions.ts";
  expect(readFileSync(join(root, tools), "utf8"), tools).toBe(readFileSync(join(copy, tools), "utf8"));
  rmSync(copy, { recursive: true });
});
