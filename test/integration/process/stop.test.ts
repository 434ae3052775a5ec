import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isAlive } from "../../../src/native/index.ts";
import type { ProcessRecord, Supervisor } from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
let home: TestHome;
let supervisor: Supervisor;

beforeEach(async () => {
  home = new TestHome();
  supervisor = await home.open();
});
afterEach(() => home[Symbol.asyncDispose]());

async function start(command: string, more: object = {}): Promise<ProcessRecord> {
  return (await supervisor.start({ command, ...more }, caller())).record;
}

/** How many of its tree are a `sleep` by now, that is, have gone through exec. */
async function sleepers(record: ProcessRecord): Promise<number> {
  const { look } = await supervisor.inspect(record, { tree: true });
  return look?.tree.filter((p) => p.command.startsWith("sleep")).length ?? 0;
}

describe("stop", () => {
  test("ends a whole tree, also what called setsid, and lists it", async () => {
    const record = await start("setsid sleep 31 & sleep 32 & sleep 33");
    await until("the tree is there", async () => (await sleepers(record)) === 3);
    const answer = await supervisor.stop(record);
    expect(answer).toMatchObject({ stopped: true, exit_code: -1, signal: "SIGTERM", reason: "stopped", left: [] });
    expect(answer.ended.map((e) => e.command).sort()).toEqual(
      expect.arrayContaining(["sleep 31", "sleep 32", "sleep 33"]),
    );
    expect(record.ended).toBe(true);
  });

  test("kills what ignores TERM after the grace", async () => {
    const record = await start("trap '' TERM; while :; do sleep 0.1; done", { stop_grace_ms: 200 });
    await until("the shell is in its loop", async () => (await sleepers(record)) === 1);
    const answer = await supervisor.stop(record);
    expect(answer).toMatchObject({ stopped: true, signal: "SIGKILL", left: [] });
  });

  test("takes the caller's steps and adds KILL", async () => {
    const record = await start("trap 'exit 7' INT; while :; do sleep 0.05; done");
    await until("the shell is in its loop", async () => (await sleepers(record)) === 1);
    const answer = await supervisor.stop(record, [{ signal: 2, waitMs: 5_000 }]);
    expect(answer).toMatchObject({ stopped: true, exit_code: 7 });
  });

  test("answers joined stops alike, and an ended process with its exit", async () => {
    const record = await start("sleep 30");
    const [a, b] = await Promise.all([supervisor.stop(record), supervisor.stop(record)]);
    expect(a).toEqual(b);
    expect(await supervisor.stop(record)).toMatchObject({ stopped: true, ended: [], left: [], signal: "SIGTERM" });
  });

  test("leaves the exit code alone and ends the leftovers", async () => {
    const record = await start("sleep 34 & exit 4");
    await record.waitExit(never);
    expect(record.facts).toMatchObject({ state: "exited", exit_code: 4, leftover_count: 1 });
    expect(await supervisor.signal(record, 18, "group")).toBe(1);
    const answer = await supervisor.stop(record);
    expect(answer).toMatchObject({ stopped: true, exit_code: 4 });
    expect(answer.ended).toMatchObject([{ command: "sleep 34", by: "SIGTERM" }]);
    expect(record.facts).toMatchObject({ leftover_count: 0 });
    await expect(supervisor.signal(record, 15, "group")).rejects.toMatchObject({ code: "process/not-running" });
  });

  test("remembers that a user sent the signal", async () => {
    const record = await start("sleep 30");
    expect(await supervisor.signal(record, 9, "group")).toBeGreaterThan(0);
    await record.waitExit(never);
    expect(record.facts).toMatchObject({ exit_code: -1, signal: "SIGKILL", reason: "signalled_by_user" });
  });

  test("forgets a process and its log on delete", async () => {
    const record = await start("echo hello; sleep 30");
    await supervisor.remove(record);
    expect(supervisor.find(record.id, caller())).toBeUndefined();
    expect(supervisor.dirs.list()).toEqual([]);
    const types = supervisor.events.after(0, { process: record.id }, 10).map((e) => e.type);
    expect(types.at(-1)).toBe("process.removed");
  });
});

describe("a killed shim", () => {
  test("makes a process lost but running while its command lives, and stop still ends all of it", async () => {
    const record = await start("setsid sleep 35 & sleep 36");
    await until("the tree is there", async () => (await sleepers(record)) === 2);
    const held = await supervisor.hold(record);
    process.kill(record.facts.shim_pid ?? 0, "SIGKILL");
    await until("it is noticed", () => record.facts.state === "lost");
    held.release();
    expect(record.facts).toMatchObject({ supervised: false, evidence: expect.stringContaining("still alive") });
    expect(record.running).toBe(true);
    const answer = await supervisor.stop(record);
    expect(answer).toMatchObject({ stopped: true, exit_code: -1, reason: "lost", left: [] });
    expect(answer.ended.length).toBeGreaterThanOrEqual(3);
    expect(record.ended).toBe(true);
    expect(isAlive({ pid: record.facts.pid ?? 0, start: record.facts.pid_start ?? 0 })).toBe(false);
  });

  test("never invents an exit code", async () => {
    const record = await start("exec sleep 37");
    const { pid = 0, pid_start: begun = 0, shim_pid: shim = 0 } = record.facts;
    process.kill(shim, "SIGKILL");
    process.kill(pid, "SIGKILL");
    await until("both are gone", () => {
      supervisor.refresh(record);
      return !isAlive({ pid, start: begun }) && !record.running;
    });
    expect(record.facts).toMatchObject({
      state: "lost",
      exit_code: -1,
      reason: "lost",
      evidence: expect.stringContaining("is gone"),
    });
    await until("it counts as ended", () => record.ended);
    await until("it is told", () =>
      supervisor.events.after(0, { process: record.id }, 10).some((e) => e.type === "process.lost"),
    );
  });
});

describe("survivors of a killed shim", () => {
  test("are counted, keep the record from being ended, and are ended by stop", async () => {
    const record = await start("sleep 38 & sleep 39 & wait");
    await until("the tree is there", async () => (await sleepers(record)) === 2);
    process.kill(record.facts.shim_pid ?? 0, "SIGKILL");
    process.kill(record.facts.pid ?? 0, "SIGKILL");
    await until("the sweep has counted them", () => {
      supervisor.refresh(record);
      return record.facts.leftover_count === 2;
    });
    expect(record.ended).toBe(false);
    const seen = await supervisor.inspect(record, { tree: true });
    expect(seen.look?.tree.map((p) => p.command).sort()).toEqual(["sleep 38", "sleep 39"]);
    expect(await supervisor.signal(record, 18, "tree")).toBe(2);
    const answer = await supervisor.stop(record);
    expect(answer).toMatchObject({ stopped: true, left: [], reason: "lost" });
    expect(answer.ended).toHaveLength(2);
    expect(record.ended).toBe(true);
  });
});

describe("adopt", () => {
  test("watches a process that was there before", async () => {
    const other = await start("sleep 30");
    const watched = await supervisor.adopt(other.facts.pid ?? 0, "mine", caller());
    expect(watched.meta).toMatchObject({ label: "mine", command: expect.stringContaining("sleep 30") });
    expect(watched.running).toBe(true);
    await supervisor.stop(other);
    await watched.waitExit(never);
    expect(watched.facts).toMatchObject({ state: "exited", reason: "not_observed", exit_code: -1 });
    await expect(supervisor.adopt(4_194_303, undefined, caller())).rejects.toMatchObject({ code: "process/not-found" });
  });
});
