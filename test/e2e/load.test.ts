import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/real-daemon.ts";

// Promise: light. The full numbers are `scripts/load.mjs` without arguments; this is the same program with small ones.
test("many processes, many starts and many slow readers are answered rightly within bounded memory", () => {
  const run = spawnSync(
    join(root, "build/test/reaper"),
    [process.execPath, join(root, "scripts/load.mjs"), "rest=100", "sequence=300", "readers=20", "gigabytes=0.3"],
    { encoding: "utf8", timeout: 240_000 },
  );
  expect(run.stdout + run.stderr).toContain("load: all held");
  expect(run.status).toBe(0);
}, 300_000);
