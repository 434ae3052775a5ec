import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyBuild } from "../support/other-build.ts";
import { RealDaemon, root } from "../support/real-daemon.ts";

/** The next build: the same sources with a higher protocol version on both sides. */
function buildNext(): string {
  const next = copyBuild();
  const protocol = join(next, "dist/native/protocol.js");
  const text = readFileSync(protocol, "utf8");
  expect(text).toContain("export const PROTOCOL_VERSION = 1;");
  writeFileSync(protocol, text.replace("export const PROTOCOL_VERSION = 1;", "export const PROTOCOL_VERSION = 2;"));
  execFileSync("make", ["-s", "-C", root, `BUILD=${join(next, "build")}`, "DROVER_PROTOCOL_VERSION=2"]);
  return next;
}

// Promise: survive
test("processes of one build are adopted by the next, which speaks a higher protocol version", async () => {
  const next = buildNext();
  const old = await RealDaemon.start();
  const talking = await old.started({
    command: "i=0; while [ $i -lt 60 ]; do echo $i; i=$((i+1)); sleep 0.05; done; exit 6",
  });
  const listening = await old.started({ command: "cat", stdin: { open: true } });
  await old.kill("SIGTERM");
  const daemon = await RealDaemon.start({ home: old.home, dist: join(next, "dist") });
  expect((await daemon.call("GET", "/api/v0/status")).body).toMatchObject({ protocol: 2, adopted: 2 });
  const end = await daemon.process("GET", `${talking}/output?wait=true`);
  expect(end.body).toMatchObject({ exit_code: 6, output: Array.from({ length: 60 }, (_, i) => `${i}\n`).join("") });
  const oldWords = { data: "over the old protocol\n", close: true };
  expect((await daemon.process("POST", `${listening}/stdin`, oldWords)).status).toBe(200);
  expect((await daemon.process("GET", `${listening}/output?wait=true`)).body.output).toBe("over the old protocol\n");
  const fresh = await daemon.started({ command: "cat", stdin: { open: true } });
  expect((await daemon.process("POST", `${fresh}/stdin`, { data: "new\n", close: true })).status).toBe(200);
  expect((await daemon.process("GET", `${fresh}/output?wait=true`)).body.output).toBe("new\n");
  await daemon.close();
  rmSync(next, { recursive: true });
}, 120_000);
