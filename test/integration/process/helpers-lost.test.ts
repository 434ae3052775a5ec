import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Supervisor } from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";

const never = new AbortController().signal;
let home: TestHome;
let supervisor: Supervisor;

beforeEach(async () => {
  home = new TestHome();
  supervisor = await home.open();
});
afterEach(() => home[Symbol.asyncDispose]());

/** The keeper is the only child of this test that has its name. */
function keepers(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        return stat.includes("(drover-keeper)") && stat.split(") ")[1]?.split(" ")[1] === String(process.pid);
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe("without hints", () => {
  test("pain P11: a start is found by its state file and an exit by the sweep", async () => {
    rmSync(join(home.path, "hints"));
    const { record } = await supervisor.start({ command: "sleep 0.3; exit 3" }, caller());
    expect(record.facts).toMatchObject({ state: "running", supervised: true });
    await record.waitExit(never);
    expect(record.facts).toMatchObject({ state: "exited", exit_code: 3 });
    await expect(supervisor.start({ argv: ["/nonexistent/x"] }, caller())).rejects.toMatchObject({
      code: "process/command-not-found",
    });
  });
});

describe("a killed keeper", () => {
  test("is replaced, and every start under way runs exactly once", async () => {
    const counted = join(home.path, "counted");
    const request = { command: `echo x >>${counted}` };
    const starts = Array.from({ length: 30 }, (_, i) => {
      if (i === 15) for (const pid of keepers()) process.kill(pid, "SIGKILL");
      return supervisor.start(request, caller());
    });
    const started = await Promise.all(starts);
    await Promise.all(started.map(({ record }) => record.waitExit(never)));
    expect(started.map(({ record }) => record.facts.exit_code)).toEqual(Array(30).fill(0));
    expect(readFileSync(counted, "utf8")).toBe("x\n".repeat(30));
  });
});
