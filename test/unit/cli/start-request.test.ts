import { describe, expect, it } from "vitest";
import { toStartRequest } from "../../../src/cli/start-request.ts";

const here = { workdir: "/here", variable: (name: string) => (name === "SET" ? "yes" : undefined) };

describe("toStartRequest", () => {
  it("runs words as they are and gives -c to the shell", () => {
    expect(toStartRequest({}, ["a b", "|"], here)).toEqual({ argv: ["a b", "|"], workdir: "/here" });
    expect(toStartRequest({ command: "a | b", shell: "bash" }, [], here)).toEqual({
      command: "a | b",
      shell: "bash",
      workdir: "/here",
    });
  });

  it.each([
    [{}, []],
    [{ command: "a" }, ["b"]],
  ])("needs exactly one of the two", (options, words) => {
    expect(() => toStartRequest(options, words, here)).toThrow(
      expect.objectContaining({ code: "process/command-required" }),
    );
  });

  it("passes variables on by name and refuses one that is not set", () => {
    expect(toStartRequest({ env: ["A=1=2", "B=", "SET"] }, ["x"], here).env).toEqual({ A: "1=2", B: "", SET: "yes" });
    expect(() => toStartRequest({ env: ["UNSET"] }, ["x"], here)).toThrow(/UNSET/);
  });

  it("takes size and kind of the terminal only with --tty", () => {
    const at = { ...here, size: { cols: 100, rows: 30 }, term: "xterm-256color" };
    expect(toStartRequest({ tty: true }, ["x"], at)).toMatchObject({
      tty: true,
      cols: 100,
      rows: 30,
      env: { TERM: "xterm-256color" },
    });
    expect(toStartRequest({}, ["x"], at)).toEqual({ argv: ["x"], workdir: "/here" });
  });

  it("knows text, an open stdin and ours", () => {
    expect(toStartRequest({ stdin: "text" }, ["x"], here).stdin).toBe("text");
    expect(toStartRequest({ stdin: "-" }, ["x"], here).stdin).toEqual({ open: true });
    expect(toStartRequest({ interactive: true }, ["x"], here).stdin).toEqual({ open: true });
    expect(toStartRequest({ interactive: true, stdin: "first\n" }, ["x"], here).stdin).toEqual({
      open: true,
      data: "first\n",
    });
  });
});
