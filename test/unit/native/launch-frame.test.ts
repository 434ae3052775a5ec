import { describe, expect, it } from "vitest";
import type { ProcessId } from "../../../src/contract/index.ts";
import { Fields, FrameReader } from "../../../src/native/frame.ts";
import { encodeLaunch, type LaunchSpec } from "../../../src/native/launch-frame.ts";
import { FRAME_MAX, fieldKeys, frameTypes, launchFlags } from "../../../src/native/protocol.ts";

const spec: LaunchSpec = {
  id: "3f2b8c9e-1d4a-4f6b-8a7c-5e9d0b1c2a3f" as ProcessId,
  runDir: "/home/run/x",
  cwd: "/tmp",
  execPath: "/bin/sh",
  argv: ["sh", "-c", "echo äöü 🐑"],
  env: ["A=1", "B=ä"],
  tty: false,
  split: false,
  stdin: "null",
  logHead: 8192,
  logRing: 65_536,
  graceMs: 5000,
};

const fieldsOf = (s: LaunchSpec) => {
  const frame = new FrameReader().push(encodeLaunch(s))[0];
  expect(frame?.type).toBe(frameTypes.launch);
  return new Fields(frame?.body ?? Buffer.alloc(0));
};

describe("the launch frame", () => {
  it("carries words and environment in order", () => {
    const fields = fieldsOf(spec);
    expect(fields.all(fieldKeys.arg).map(String)).toEqual(spec.argv);
    expect(fields.all(fieldKeys.env).map(String)).toEqual(spec.env);
    expect(fields.text(fieldKeys.id)).toBe(spec.id);
    expect(fields.number(fieldKeys.timeoutMs)).toBeUndefined();
  });

  it("sends negative numbers as two's complement", () => {
    const fields = fieldsOf({ ...spec, limits: { nice: -5, oom_score_adj: 500, memory_bytes: 2 ** 40 } });
    expect(fields.signed(fieldKeys.nice)).toBe(-5);
    expect(fields.number(fieldKeys.oomScoreAdj)).toBe(500);
    expect(fields.number(fieldKeys.limitMemory)).toBe(2 ** 40);
  });

  it.each([
    [{ stdin: "null" }, 0],
    [{ stdin: "closed" }, launchFlags.stdinData],
    [{ stdin: "open" }, launchFlags.stdinOpen],
    [{ stdin: "open", stdinData: Buffer.from("x") }, launchFlags.stdinOpen | launchFlags.stdinData],
    [{ tty: true, stdin: "open" }, launchFlags.tty | launchFlags.stdinOpen],
    [{ split: true, logSegments: true }, launchFlags.split | launchFlags.logSegments],
  ] satisfies [Partial<LaunchSpec>, number][])("turns %o into flags %i", (change, flags) => {
    expect(fieldsOf({ ...spec, ...change }).number(fieldKeys.flags)).toBe(flags);
  });

  it("refuses what is over the bound of a frame", () => {
    const long = "x".repeat(FRAME_MAX);
    expect(() => encodeLaunch({ ...spec, argv: [long] })).toThrow(
      expect.objectContaining({ code: "process/too-long" }),
    );
    expect(() => encodeLaunch({ ...spec, env: [long, long] })).toThrow(
      expect.objectContaining({ code: "process/too-long" }),
    );
  });
});
