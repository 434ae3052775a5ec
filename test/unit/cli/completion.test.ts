import { execFileSync } from "node:child_process";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { completionScript, shells } from "../../../src/cli/completion.ts";
import { createProgram } from "../../../src/cli/program.ts";

const program: Command = createProgram(() => async () => undefined, "0.0.0");
const commands = program.commands.map((c) => c.name()).filter((name) => !name.startsWith("__"));

/** What bash offers for the last of these words. */
function complete(...words: string[]): string[] {
  const script = `
    drover() { echo dev; echo 1a2b3c4d; }
    ${completionScript(program, "bash")}
    COMP_WORDS=(drover ${words.map((w) => `'${w}'`).join(" ")}); COMP_CWORD=${words.length}
    _drover; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8" }).trim().split("\n");
}

describe("completion", () => {
  it.each(shells)("names every command and option in %s", (shell) => {
    const script = completionScript(program, shell);
    for (const name of commands) expect(script).toContain(name);
    for (const command of program.commands) {
      for (const option of command.options.filter((o) => !o.hidden)) expect(script).toContain(option.long?.slice(2));
    }
  });

  it("offers commands, options, names and the words of an option", () => {
    expect(complete("st")).toEqual(["start", "stop", "status"]);
    expect(complete("logs", "--f")).toEqual(["--follow", "--from"]);
    expect(complete("logs", "")).toEqual(["dev", "1a2b3c4d"]);
    expect(complete("start", "--streams", "")).toEqual(["merged", "split"]);
    expect(complete("--home", "/x", "completion", "f")).toEqual(["fish"]);
  });

  it("leaves what follows -- to the shell", () => {
    expect(complete("start", "--", "x")).toEqual([""]);
  });
});

describe("the command tree", () => {
  it("has a summary, a description and the global options everywhere", () => {
    for (const command of program.commands.filter((c) => commands.includes(c.name()))) {
      expect(command.summary(), command.name()).not.toBe("");
      expect(command.description(), command.name()).not.toBe("");
      for (const flag of ["--json", "--home", "--url", "--no-spawn"])
        expect(command.options.map((o) => o.long)).toContain(flag);
    }
  });
});
