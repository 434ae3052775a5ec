import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { membersOf, program, RealDaemon } from "../support/real-daemon.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

/** Everything in /proc that carries the id, zombies not counted (they have no environment). */
const members = (id: string) =>
  membersOf(
    id,
    readdirSync("/proc").filter((name) => /^\d+$/.test(name)),
  );

async function ready(id: string, text = "ready"): Promise<void> {
  const wait = await daemon.process("POST", `${id}/wait`, { for: { match: text }, cursor: 0, timeout_ms: 30_000 });
  expect(wait.body.fired).toBe("match");
}

/** What each fixture must leave in the answer: at least this many processes. */
const fixtures: [name: string, args: string[], least: number][] = [
  ["setsid-children", [], 4],
  ["double-forks", [], 2],
  ["ignores-sigterm", [], 2],
  ["respawns-children", [], 5],
  ["changes-pgid", [], 3],
  ["stops-itself", [], 2],
  ["zombie-maker", [], 1],
  ["hydra", [], 1],
  ["many-children", ["500"], 501],
];

describe("stop", () => {
  // Promise: nothing-left
  test.each(fixtures)("pain P2, pain S5: leaves nothing of %s and lists what it ended", async (name, args, least) => {
    const id = await daemon.started({ argv: [program(name), ...args] });
    await ready(id);
    const stop = await daemon.process("POST", `${id}/stop`, {
      signals: [{ signal: "TERM", wait_ms: 200 }, { signal: "KILL" }],
    });
    expect(stop.body).toMatchObject({ stopped: true, left: [] });
    expect(stop.body.ended.length).toBeGreaterThanOrEqual(least);
    for (const one of stop.body.ended)
      expect(one).toEqual({ pid: expect.any(Number), command: expect.any(String), by: expect.any(String) });
    expect(members(id)).toEqual([]);
    expect((await daemon.process("GET", id)).body).toMatchObject({ running: false, state: "exited" });
  });

  test("leaves nothing of a traced process", async () => {
    const id = await daemon.started({ argv: [program("traced")] });
    const wait = await daemon.process("POST", `${id}/wait`, { for: { match: "ready|no ptrace" }, cursor: 0 });
    expect(wait.body.fired).toBe("match");
    const stop = await daemon.process("POST", `${id}/stop`, { signals: [{ signal: "TERM", wait_ms: 100 }] });
    expect(stop.body).toMatchObject({ stopped: true, left: [] });
    expect(members(id)).toEqual([]);
  });

  test("says by which signal each one ended", async () => {
    const stubborn = await daemon.started({ argv: [program("ignores-sigterm")] });
    await ready(stubborn);
    const killed = await daemon.process("POST", `${stubborn}/stop`, { signals: [{ signal: "TERM", wait_ms: 100 }] });
    expect(killed.body.ended.map((p: { by: string }) => p.by)).toEqual(["SIGKILL", "SIGKILL"]);
    const meek = await daemon.started({ command: "sleep 60" });
    const ended = await daemon.process("POST", `${meek}/stop`);
    expect(ended.body).toMatchObject({ stopped: true, signal: "SIGTERM", reason: "stopped" });
    expect(ended.body.ended.every((p: { by: string }) => p.by === "SIGTERM")).toBe(true);
  });

  test("does its work once for callers that come together", async () => {
    const id = await daemon.started({ argv: [program("ignores-sigterm")] });
    await ready(id);
    const body = { signals: [{ signal: "TERM", wait_ms: 300 }] };
    const answers = await Promise.all([1, 2, 3].map(() => daemon.process("POST", `${id}/stop`, body)));
    for (const answer of answers) expect(answer.body).toMatchObject({ stopped: true, left: [] });
    expect((await daemon.process("POST", `${id}/stop`)).body).toMatchObject({ stopped: true, ended: [], left: [] });
  });
});

describe("leftovers", () => {
  // Promise: never-hangs
  test("pain P3: a command whose child keeps the pipe answers at its own exit", async () => {
    const start = await daemon.process("POST", "start", {
      argv: ["sh", "-c", "sleep 1000 & echo done"],
      wait: { timeout_ms: 20_000 },
    });
    expect(start.body.wait).toMatchObject({ fired: "exit", running: false, exit_code: 0, output: "done\n" });
    const info = async () => (await daemon.process("GET", start.body.id)).body;
    await expect.poll(info).toMatchObject({ running: false, exit_code: 0, leftovers: [{ command: "sleep 1000" }] });
    const stop = await daemon.process("POST", `${start.body.id}/stop`);
    expect(stop.body).toMatchObject({ stopped: true, exit_code: 0, ended: [{ command: "sleep 1000", by: "SIGTERM" }] });
  });

  test("are still heard after the command ended", async () => {
    const id = await daemon.started({ argv: [program("forks-and-exits"), "5", "20", "20"] });
    expect((await daemon.process("GET", `${id}/output?wait=true`)).body).toMatchObject({
      running: false,
      exit_code: 5,
    });
    await expect
      .poll(async () => (await daemon.process("GET", `${id}/log`)).body.data, { timeout: 20_000 })
      .toContain("child 20\n");
  });
});

describe("a killed shim", () => {
  // Promise: never-lies
  test("makes the state lost with evidence; stop ends what it can prove; nothing else is disturbed", async () => {
    const other = await daemon.started({ command: "sleep 60" });
    const id = await daemon.started({ command: "sleep 987 & sleep 986" });
    const { body: before } = await daemon.process("GET", id);
    const shim = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${before.pid}/status`, "utf8"))?.[1]);
    process.kill(shim, "SIGKILL");
    await expect.poll(async () => (await daemon.process("GET", id)).body.state, { timeout: 15_000 }).toBe("lost");
    const { body: lost } = await daemon.process("GET", id);
    expect(lost).toMatchObject({ running: true, supervised: false });
    expect(lost.evidence).toContain(String(shim));
    expect(lost.exit_code).toBeUndefined();
    expect(members(id).length).toBeGreaterThan(0);
    const stop = await daemon.process("POST", `${id}/stop`);
    expect(stop.body).toMatchObject({ stopped: true, left: [] });
    expect(stop.body.ended.length).toBeGreaterThanOrEqual(2);
    expect(members(id)).toEqual([]);
    expect((await daemon.process("GET", id)).body).toMatchObject({ state: "lost", running: false });
    expect((await daemon.process("GET", other)).body).toMatchObject({ state: "running", supervised: true });
    await daemon.process("POST", `${other}/stop`);
  });
});
