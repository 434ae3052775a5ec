import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { helperPaths, isAlive, Keeper, startTimeOf } from "../../../src/native/index.ts";
import { metaOf } from "../../unit/native/meta-of.ts";
import { NativeHome, quiet, until } from "./home.ts";

let at: NativeHome;

beforeEach(async () => {
  at = await NativeHome.open();
});
afterEach(() => at.close());

describe("the keeper", () => {
  it("runs a command and its end is hinted and on disk", async () => {
    const id = at.launch("printf hello; exit 7");
    const started = await at.hint(id, "started");
    expect(started).toMatchObject({ errno: 0, stage: 0 });
    const exited = await at.hint(id, "exited");
    expect(exited).toMatchObject({
      code: 7,
      signal: 0,
      pid: started.pid,
      start: started.start,
      logEnd: 5,
      children: 0,
    });
    await at.hint(id, "ended");
    const state = at.dirs.readState(id);
    expect(state?.header).toMatchObject({
      id,
      leaderPid: started.pid,
      leaderStart: started.start,
      startErrno: 0,
      watched: false,
    });
    expect(state?.exit).toMatchObject({ code: 7, signal: 0, logEnd: 5 });
    expect(state?.end).toMatchObject({ logEnd: 5 });
    expect(at.dirs.hasClaim(id)).toBe("started");
    expect(at.dirs.claimVoid(id)).toBe(false);
  });

  it("tells the signal that ended a command", async () => {
    const id = at.launch("kill -TERM $$");
    expect(await at.hint(id, "exited")).toMatchObject({ code: -1, signal: 15 });
    await at.hint(id, "ended");
  });

  it("tells why a command cannot be started", async () => {
    const id = at.launch("", { execPath: "/nonexistent/program" });
    expect(await at.hint(id, "started")).toMatchObject({ errno: 2, stage: 7 });
    expect(at.dirs.readState(id)?.header).toMatchObject({ startErrno: 2, startStage: 7 });
  });

  it("tells what is wrong with a frame", async () => {
    const id = at.launch("true", { cwd: "relative" });
    await until(() => at.failed.find((failed) => failed.id === id));
    expect(at.failed[0]).toMatchObject({ id, errno: 22 });
  });

  it("never runs a launch that was declared void", async () => {
    const meta = metaOf({ argv: ["sh", "-c", "touch ran"] });
    at.dirs.create(meta);
    expect(at.dirs.claimVoid(meta.id)).toBe(true);
    at.keeper.launch({ ...at.specOf(meta), cwd: at.home });
    const next = at.launch("true");
    await at.hint(next, "ended");
    await at.keeper.close();
    expect(at.dirs.readState(meta.id)).toBeUndefined();
    expect(existsSync(join(at.home, "ran"))).toBe(false);
  });

  it("passes the environment of the frame and nothing else", async () => {
    const id = at.launch("env; echo end", { env: ["A=ä b", "PATH=/usr/bin:/bin"] });
    await at.hint(id, "ended");
    const output = readFileSync(join(at.dirs.path(id), "log"), "utf8");
    expect(output).toContain("A=ä b\n");
    expect(output).not.toContain("HOME=");
  });

  it("is started again when it dies, and what was launched meanwhile runs", async () => {
    const before = { pid: at.keeper.pid, start: startTimeOf(at.keeper.pid) ?? 0 };
    process.kill(before.pid, "SIGKILL");
    await until(() => at.restarts === 1);
    const id = at.launch("exit 3");
    expect(await at.hint(id, "exited")).toMatchObject({ code: 3 });
    await at.hint(id, "ended");
    expect(at.keeper.pid).not.toBe(before.pid);
    expect(isAlive(before)).toBe(false);
  });

  it("serves what it has before it closes, and then takes nothing more", async () => {
    const id = at.launch("exit 4");
    await at.keeper.close();
    expect(await at.hint(id, "exited")).toMatchObject({ code: 4 });
    await at.hint(id, "ended");
    expect(() => at.launch("true")).toThrow(expect.objectContaining({ code: "daemon/shutting-down" }));
  });

  it("that is no program fails the start", async () => {
    const options = { path: "/nonexistent/keeper", log: quiet, onFailed: () => {} };
    await expect(Keeper.start(options)).rejects.toMatchObject({ code: "native/missing" });
    await expect(Keeper.start({ ...options, path: "/bin/true" })).rejects.toMatchObject({ code: "native/missing" });
    expect(helperPaths.shim).toMatch(/build\/drover-shim$/);
  });
});
