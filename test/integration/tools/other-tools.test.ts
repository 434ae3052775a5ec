import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { caller } from "../../support/home.ts";
import { useTools } from "./tool-home.ts";

const tools = useTools();

describe("file tools", () => {
  test("write, read, edit and list", async () => {
    const path = join(tools.home.path, "made/by/tools.txt");
    expect(await tools.call("write_file", { path, content: "one\ntwo\n" })).toMatchObject({ success: true, bytes: 8 });
    expect(await tools.call("read_file", { path })).toMatchObject({ success: true, content: "1\tone\n2\ttwo" });
    const edited = await tools.call("edit_file", { path, edits: [{ search: "two", replace: "three" }] });
    expect(edited).toMatchObject({ success: true, diff: expect.stringContaining("+three") });
    expect(await tools.call("edit_file", { path, edits: [{ search: "four", replace: "" }] })).toMatchObject({
      success: false,
    });
    const folder = join(tools.home.path, "made");
    writeFileSync(join(folder, "a.txt"), "");
    expect(await tools.call("list_directory", { path: folder })).toMatchObject({ entries: ["by/", "a.txt"] });
    expect(await tools.call("read_file", { path: "/no/such" })).toMatchObject({
      success: false,
      error: expect.any(String),
    });
    expect(await tools.call("list_directory", { path: "relative" })).toMatchObject({ success: false });
  });
});

describe("tokens", () => {
  test("one that may only read looks and waits, and changes nothing", async () => {
    const { process_id } = await tools.call("execute", { command: "echo a" });
    const by = { ...caller(), readOnly: true };
    expect(await tools.call("process_output", { process_id }, by)).toMatchObject({ output: "a\n" });
    for (const [name, given] of [
      ["execute", { command: "true" }],
      ["process_stop", { process_id }],
      ["write_file", { path: "/tmp/x", content: "" }],
    ] as const) {
      await expect(tools.call(name, given, by)).rejects.toMatchObject({ code: "auth/read-only" });
    }
  });
});

describe("sets that models know", () => {
  test("Claude's: run, read, watch, stop, with results in its own words", async () => {
    const ran = await tools.callIn("claude", "Bash", {
      command: "[[ -n $BASH_VERSION ]] && echo bash",
      timeout: 5_000,
    });
    expect(ran).toMatchObject({ success: true, output: "bash\n" });
    const long = await tools.callIn("claude", "Bash", { command: "seq 20000" });
    expect(long.omitted[0].fetch).toMatch(/^TaskOutput \{"task_id":".*","from":\d+,"to":\d+\}$/);
    const hole = JSON.parse(long.omitted[0].fetch.replace("TaskOutput ", ""));
    expect((await tools.callIn("claude", "TaskOutput", { ...hole, to: hole.from + 100 })).output).toHaveLength(100);
    const monitor = await tools.callIn("claude", "Monitor", { command: "echo event; sleep 30", timeout_ms: 60_000 });
    const id = monitor.process_id;
    expect(await tools.callIn("claude", "TaskOutput", { task_id: id, timeout: 300 })).toMatchObject({
      output: "event\n",
    });
    expect(await tools.callIn("claude", "BashOutput", { bash_id: id, filter: "ev" })).toMatchObject({
      matches: [{ line: "event" }],
    });
    expect(await tools.callIn("claude", "KillShell", { shell_id: id })).toMatchObject({ success: true });
    expect(await tools.callIn("claude", "TaskStop", { task_id: id })).toMatchObject({ success: true });
  });

  test("Codex's: a session goes on by write_stdin", async () => {
    const ran = await tools.callIn("codex", "exec_command", {
      cmd: "read x; echo got $x",
      tty: true,
      yield_time_ms: 5_000,
    });
    expect(ran).toMatchObject({ running: true, waiting: { kind: "waiting_line" } });
    const { process_id: session_id } = ran;
    expect(ran.waiting.answer_with).toBe(`write_stdin {"session_id":"${session_id}","chars":"…\\n"}`);
    const answered = await tools.callIn("codex", "write_stdin", { session_id, chars: "it\n" });
    expect(answered).toMatchObject({ exit_code: 0, output: expect.stringContaining("got it") });
    expect(await tools.callIn("codex", "write_stdin", { session_id, chars: "" })).toMatchObject({ exit_code: 0 });
  });

  test("Gemini's: background, list, read", async () => {
    const ran = await tools.callIn("gemini", "run_shell_command", {
      command: "echo up; sleep 30",
      is_background: true,
    });
    const { process_id: pid } = ran;
    expect(await tools.callIn("gemini", "list_background_processes")).toMatchObject({ processes: [{ id: pid }] });
    expect(await tools.callIn("gemini", "read_background_output", { pid, delay_ms: 300, lines: 5 })).toMatchObject({
      running: true,
      output: "up\n",
    });
    await expect(tools.callIn("gemini", "read_background_output", { bash_id: pid })).rejects.toThrow("pid");
    await expect(tools.callIn("gemini", "Bash", { command: "x" })).rejects.toMatchObject({ code: "tool/unknown" });
  });
});
