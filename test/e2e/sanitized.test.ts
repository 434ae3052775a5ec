import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyBuild } from "../support/other-build.ts";
import { program, RealDaemon, root } from "../support/real-daemon.ts";

/** A build whose helpers report every bad access and undefined step into files, because a shim has no stderr. */
function buildSanitized(): { folder: string; reports: () => string[] } {
  const folder = copyBuild();
  execFileSync("make", ["-s", "-C", root, "sanitize"]);
  for (const name of ["drover-keeper", "drover-shim"]) {
    const real = join(root, "build/sanitize", name);
    const script = `#!/bin/sh\nexport ASAN_OPTIONS=detect_leaks=0:log_path=${folder}/report UBSAN_OPTIONS=log_path=${folder}/report\nexec ${real} "$@"\n`;
    writeFileSync(join(folder, "build", name), script);
    chmodSync(join(folder, "build", name), 0o755);
  }
  const reports = () =>
    readdirSync(folder)
      .filter((name) => name.startsWith("report"))
      .map((name) => readFileSync(join(folder, name), "utf8"));
  return { folder, reports };
}

test("the helpers do nothing undefined while they are used in every way", async () => {
  const { folder, reports } = buildSanitized();
  const daemon = await RealDaemon.start({ dist: join(folder, "dist") });
  const stop = (id: string) =>
    daemon.process("POST", `${id}/stop`, { signals: [{ signal: "TERM", wait_ms: 100 }, { signal: "KILL" }] });

  const ring = await daemon.process("POST", "start", {
    argv: [program("prints-bytes"), "3000000"],
    log_bytes: 131_072,
    wait: { timeout_ms: 60_000 },
  });
  expect(ring.body.wait.exit_code).toBe(0);
  const split = await daemon.process("POST", "start", {
    argv: [program("writes-both"), "200"],
    streams: "split",
    wait: {},
  });
  expect(split.body.wait.exit_code).toBe(0);

  const terminal = await daemon.started({ argv: [program("reads-line")], tty: true });
  await daemon.process("POST", `${terminal}/wait`, { for: { activity: "waiting_line" } });
  await daemon.process("POST", `${terminal}/resize`, { cols: 100, rows: 40 });
  await daemon.process("POST", `${terminal}/stdin`, { data: "x\n", write_id: "a" });
  await daemon.process("POST", `${terminal}/stdin`, { data: "x\n", write_id: "a" });
  expect((await daemon.process("GET", `${terminal}/output?wait=true`)).body.exit_code).toBe(0);

  const listening = await daemon.started({ argv: [program("listens"), "0", "0"], limits: { pids: 20 } });
  await daemon.process("POST", `${listening}/wait`, { for: { match: "listening" }, cursor: 0 });
  expect((await daemon.process("GET", listening)).body.ports).toHaveLength(1);
  await stop(listening);

  for (const name of ["setsid-children", "double-forks", "respawns-children", "hydra", "ignores-sigterm"]) {
    const id = await daemon.started({ argv: [program(name)] });
    await daemon.process("POST", `${id}/wait`, { for: { match: "ready" }, cursor: 0 });
    expect((await stop(id)).body, name).toMatchObject({ stopped: true, left: [] });
  }
  expect((await daemon.process("POST", "start", { argv: ["/"] })).status).toBe(400);
  expect((await daemon.process("POST", "start", { command: "kill -9 $$", wait: {} })).body.wait.signal).toBe("SIGKILL");
  await daemon.close();
  expect(reports()).toEqual([]);
  rmSync(folder, { recursive: true });
}, 180_000);
