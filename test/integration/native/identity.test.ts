import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  commandOf,
  findSurvivors,
  helperPaths,
  isAlive,
  readBootId,
  readPidNamespace,
  signalByIdentity,
  startTimeOf,
} from "../../../src/native/index.ts";
import { NativeHome, until } from "./home.ts";

const children: ChildProcess[] = [];
const start = (...argv: [string, ...string[]]) => {
  const child = spawn(argv[0], argv.slice(1), { stdio: "ignore" });
  children.push(child);
  return { child, pid: child.pid ?? 0, start: startTimeOf(child.pid ?? 0) ?? 0 };
};

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

describe("an identity", () => {
  it("is alive while the process is, and a zombie or stranger is not it", async () => {
    const one = start("sleep", "60");
    expect(isAlive(one)).toBe(true);
    expect(isAlive({ pid: one.pid, start: one.start + 1 })).toBe(false);
    one.child.kill("SIGKILL");
    await once(one.child, "exit");
    expect(isAlive(one)).toBe(false);
    expect(startTimeOf(one.pid)).toBeUndefined();
    expect(commandOf(one.pid)).toBe("");
  });

  it("has a command line", () => {
    expect(commandOf(start("sleep", "60").pid)).toMatch(/^sleep 60|node/);
    expect(commandOf(process.pid)).toContain("node");
  });

  it("belongs to a boot and a namespace", () => {
    expect(readBootId()).toMatch(/^[0-9a-f-]{36}$/);
    expect(readPidNamespace()).toBeGreaterThan(0);
  });

  it("is signalled only when the start time matches", async () => {
    const [right, wrong] = [start("sleep", "60"), start("sleep", "60")];
    const exit = once(right.child, "exit");
    const results = await signalByIdentity(helperPaths.shim, 15, [right, { pid: wrong.pid, start: wrong.start + 1 }]);
    expect(results).toEqual([
      { pid: right.pid, errno: 0 },
      { pid: wrong.pid, errno: 3 },
    ]);
    expect((await exit)[1]).toBe("SIGTERM");
    expect(isAlive(wrong)).toBe(true);
  });
});

describe("survivors of a killed shim", () => {
  let at: NativeHome;
  beforeEach(async () => {
    at = await NativeHome.open();
  });
  afterEach(() => at.close());

  it("are found by leader, session, environment, pipe and descent", async () => {
    const id = at.launch(
      [
        "env -i setsid sleep 71 &", // only the pipe tells
        "setsid sleep 72 > /dev/null 2>&1 &", // only the environment tells
        "env -i sleep 73 > /dev/null 2>&1 &", // only the session tells
        "setsid env -i sh -c 'setsid sleep 74 > /dev/null 2>&1 & wait' &", // its child descends from a proven one
        "sleep 75; true",
      ].join("\n"),
    );
    const hint = await at.hint(id, "started");
    const state = at.dirs.readState(id);
    const look = async () =>
      findSurvivors({
        id,
        leader: { pid: hint.pid, start: hint.start },
        outInode: state?.header.outInode ?? 0,
        errInode: state?.header.errInode ?? 0,
        exclude: [at.keeper.pid, hint.shimPid],
      });
    process.kill(hint.shimPid, "SIGKILL");
    const proofs = await until(async () => {
      const found = new Map((await look()).map(({ command, proof }) => [command, proof]));
      return [71, 72, 73, 74, 75].every((n) => found.has(`sleep ${n}`)) && found;
    });
    expect(proofs.get("sleep 71")).toBe("pipe");
    expect(proofs.get("sleep 72")).toBe("environment");
    expect(proofs.get("sleep 73")).toBe("session");
    expect(proofs.get("sleep 74")).toBe("descendant");
    expect([...proofs.values()]).toContain("leader");
    const found = await look();
    expect(found.every(({ uid }) => uid === process.getuid?.())).toBe(true);
    await signalByIdentity(helperPaths.shim, 9, found);
    await until(async () => (await look()).length === 0);
  });

  it("are not found among strangers", async () => {
    start("sleep", "60");
    const id = at.launch("true");
    await at.hint(id, "ended");
    expect(await findSurvivors({ id, exclude: [] })).toEqual([]);
  });

  it("are looked for without holding the event loop", async () => {
    const id = at.launch("true");
    await at.hint(id, "ended");
    let turns = 0;
    let longest = 0;
    let last = performance.now();
    const tick = setInterval(() => {
      turns++;
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    for (let i = 0; i < 20; i++) await findSurvivors({ id, outInode: 1, exclude: [] });
    clearInterval(tick);
    expect(turns).toBeGreaterThan(3);
    expect(longest).toBeLessThan(500);
  });
});
