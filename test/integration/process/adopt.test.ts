import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProcessId } from "../../../src/contract/index.ts";
import { type ProcessRecord, readOutput, type Supervisor } from "../../../src/process/index.ts";
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

async function restart(between: () => void | Promise<void> = () => undefined): Promise<void> {
  await home.close();
  await between();
  supervisor = await home.open();
}

function runDir(id: string): string {
  return join(home.path, "run", id);
}

describe("a restarted daemon", () => {
  // Promise: survive
  test("finds what runs, with the same id, its output and its true exit code", async () => {
    const gate = join(home.path, "gate");
    const record = await start(`echo before; while [ ! -e ${gate} ]; do sleep 0.02; done; echo after; exit 5`);
    await restart();
    const adopted = supervisor.get(record.id, caller());
    expect(adopted.running).toBe(true);
    expect(adopted.facts).toMatchObject({ pid: record.facts.pid, pid_start: record.facts.pid_start, supervised: true });
    expect(supervisor.counts.adopted).toBe(1);
    writeFileSync(gate, "");
    await adopted.waitExit(never);
    expect(adopted.facts).toMatchObject({ state: "exited", exit_code: 5 });
    expect(readOutput(supervisor, adopted).output).toBe("before\nafter\n");
  });

  test("knows what ended meanwhile, and tells every event once", async () => {
    const gate = join(home.path, "gate");
    const record = await start(`while [ ! -e ${gate} ]; do sleep 0.02; done; exit 6`);
    await until("the start was told", () => supervisor.events.after(0, { process: record.id }, 9).length === 1);
    await restart(async () => {
      writeFileSync(gate, "");
      await until("it ended", () => readFileSync(join(runDir(record.id), "state")).readUInt32LE(1024) !== 0);
    });
    const adopted = supervisor.get(record.id, caller());
    expect(adopted.facts).toMatchObject({ state: "exited", exit_code: 6, usage: expect.anything() });
    expect(adopted.ended).toBe(true);
    await restart();
    const types = supervisor.events.after(0, { process: record.id }, 9).map((e) => e.type);
    expect(types).toEqual(["process.started", "process.exited", "process.ended"]);
  });

  test("rebuilds everything without a database", async () => {
    const running = await start("sleep 30", { label: "kept" });
    const ended = await start("echo x; exit 2");
    await ended.waitEnd(never);
    await restart(() => {
      for (const name of ["drover.db", "drover.db-wal", "drover.db-shm"])
        rmSync(join(home.path, name), { force: true });
    });
    expect(supervisor.get(running.id, caller())).toMatchObject({ running: true, meta: { label: "kept" } });
    expect(supervisor.get(ended.id, caller()).facts).toMatchObject({ exit_code: 2 });
    const next = await start("true");
    expect(next.meta.seq).toBeGreaterThan(ended.meta.seq);
  });

  test("voids a launch that nobody claimed, and quarantines what it cannot read", async () => {
    const never = randomUUID() as ProcessId;
    const broken = await start("sleep 30");
    const { pid = 0 } = broken.facts;
    await restart(() => {
      mkdirSync(runDir(never), { mode: 0o700 });
      writeFileSync(join(runDir(never), "meta"), JSON.stringify({ ...broken.meta, id: never }));
      writeFileSync(join(runDir(broken.id), "state"), Buffer.alloc(4096, 7));
    });
    expect(existsSync(runDir(never))).toBe(false);
    expect(readFileSync(join(home.path, "quarantine", broken.id, "why"), "utf8")).toContain("state file");
    expect(supervisor.counts.quarantined).toBe(1);
    const adopted = supervisor.get(broken.id, caller());
    expect(adopted.facts).toMatchObject({ state: "lost", pid });
    expect(adopted.running).toBe(true);
    expect(await supervisor.stop(adopted)).toMatchObject({ stopped: true });
  });

  test("says that a run directory is gone, and by what it knows", async () => {
    const record = await start("sleep 30");
    const away = join(home.path, "away");
    await restart(() => renameSync(runDir(record.id), away));
    const adopted = supervisor.get(record.id, caller());
    expect(adopted.facts).toMatchObject({ state: "lost", evidence: expect.stringContaining("run directory is gone") });
    expect(adopted.running).toBe(true);
    expect(await supervisor.stop(adopted)).toMatchObject({ stopped: true });
  });

  test("tells lost from ended when the shim was killed meanwhile", async () => {
    const record = await start("exec sleep 30");
    const { pid = 0, shim_pid: shim = 0 } = record.facts;
    await restart(async () => {
      process.kill(shim, "SIGKILL");
      process.kill(pid, "SIGKILL");
      await until("they are gone", () => !existsSync(`/proc/${pid}`) && !existsSync(`/proc/${shim}`));
    });
    const adopted = supervisor.get(record.id, caller());
    expect(adopted.facts).toMatchObject({ state: "lost", exit_code: -1, reason: "lost" });
    expect(adopted.running).toBe(false);
    await until("nothing is found of it", () => adopted.ended);
  });
});

describe("a deleted run directory", () => {
  test("does not hide the exit of a running process", async () => {
    const gate = join(home.path, "gate");
    const record = await start(`while [ ! -e ${gate} ]; do sleep 0.02; done; exit 9`);
    rmSync(runDir(record.id), { recursive: true });
    writeFileSync(gate, "");
    await record.waitExit(never);
    expect(record.facts).toMatchObject({ state: "exited", exit_code: 9 });
    await until("the deletion is noticed", () => {
      supervisor.refresh(record);
      return record.facts.warnings.includes("run_dir_gone") || record.ended;
    });
  });
});
