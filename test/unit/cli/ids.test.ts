import { describe, expect, it } from "vitest";
import { chooseProcess } from "../../../src/cli/ids.ts";
import type { ProcessSummary } from "../../../src/contract/index.ts";

function summary(seq: number, running: boolean, label?: string): ProcessSummary {
  return {
    id: `${String(seq).repeat(8).slice(0, 8)}-0000-4000-8000-000000000000`,
    command: `command ${seq}`,
    background: false,
    running,
    state: running ? "running" : "exited",
    ...(running ? {} : { exit_code: 0 }),
    started_at_unix: 0,
    started_at: "2026-01-01T00:00:00.000Z",
    tty: false,
    log_end: 0,
    seq,
    ...(label ? { label } : {}),
  };
}

describe("chooseProcess", () => {
  it("takes the only match of a prefix", () => {
    expect(chooseProcess("1111", [], [summary(1, true)]).seq).toBe(1);
  });

  it("takes a label before a prefix, because somebody chose it", () => {
    expect(chooseProcess("dead", [summary(1, true, "dead")], [summary(2, true)]).seq).toBe(1);
  });

  it("takes the running one of several with a label, else the newest", () => {
    expect(chooseProcess("dev", [summary(3, false, "dev"), summary(1, true, "dev")], []).seq).toBe(1);
    expect(
      chooseProcess("dev", [summary(1, false, "dev"), summary(3, false, "dev"), summary(2, false, "dev")], []).seq,
    ).toBe(3);
  });

  it("lists the candidates when several are meant", () => {
    const both = [summary(1, true, "dev"), summary(2, true, "dev")];
    expect(() => chooseProcess("dev", both, [])).toThrow(
      expect.objectContaining({ code: "process/ambiguous", detail: expect.stringMatching(/11111111.*\n22222222/) }),
    );
    expect(() => chooseProcess("1111", [], both)).toThrow(expect.objectContaining({ code: "process/ambiguous" }));
  });

  it("says that nothing was found, and when a prefix is too short", () => {
    expect(() => chooseProcess("nope", [], [])).toThrow(
      expect.objectContaining({ code: "process/not-found", detail: undefined }),
    );
    expect(() => chooseProcess("ab", [], [])).toThrow(
      expect.objectContaining({ detail: expect.stringContaining("4 characters") }),
    );
  });
});
