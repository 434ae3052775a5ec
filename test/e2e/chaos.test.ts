import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/real-daemon.ts";

// Promise: survive. The long run is `scripts/chaos.mjs --kills 200`; this is the same program, shorter.
test("pain P12, pain S2, pain S3: a daemon killed again and again loses no byte, no exit code and runs nothing twice", () => {
  const run = spawnSync(
    join(root, "build/test/reaper"),
    [process.execPath, join(root, "scripts/chaos.mjs"), "--kills", "15", "--width", "20", "--seed", "7"],
    { encoding: "utf8", timeout: 240_000 },
  );
  expect(run.stdout + run.stderr).toMatch(/ 0 wrong/);
  expect(run.status).toBe(0);
}, 300_000);
