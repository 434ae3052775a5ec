import { describe, expect, it } from "vitest";
import { describeState, exitCodeOf, stateTone } from "../../../src/cli/state.ts";

describe("describeState", () => {
  it.each([
    [{ running: true, state: "running" }, "running", "good"],
    [{ running: true, state: "starting" }, "starting", "good"],
    [{ running: false, state: "exited", exit_code: 0 }, "exited 0", "quiet"],
    [{ running: false, state: "exited", exit_code: 7 }, "exited 7", "bad"],
    [{ running: false, state: "exited", exit_code: 0, leftover_count: 2 }, "exited 0 +2 left", "warn"],
    [
      { running: false, state: "exited", exit_code: -1, signal: "SIGKILL", reason: "stopped" },
      "SIGKILL (stopped)",
      "warn",
    ],
    [
      { running: false, state: "exited", exit_code: -1, signal: "SIGTERM", reason: "signalled_by_user" },
      "SIGTERM",
      "warn",
    ],
    [
      { running: false, state: "exited", exit_code: -1, signal: "SIGKILL", reason: "oom" },
      "SIGKILL (out of memory)",
      "warn",
    ],
    [{ running: false, state: "lost", exit_code: -1, reason: "lost" }, "lost", "bad"],
    [{ running: true, state: "lost" }, "lost, alive", "bad"],
  ])("shows %j as %s", (state, text, tone) => {
    expect(describeState(state)).toBe(text);
    expect(stateTone(state)).toBe(tone);
  });
});

describe("exitCodeOf", () => {
  it("is the process's own, 128+n for a signal, 125 when nobody knows", () => {
    expect(exitCodeOf({ exit_code: 7 })).toBe(7);
    expect(exitCodeOf({ exit_code: -1, signal: "SIGKILL" })).toBe(137);
    expect(exitCodeOf({ exit_code: -1, reason: "lost" })).toBe(125);
    expect(exitCodeOf({})).toBe(125);
  });
});
