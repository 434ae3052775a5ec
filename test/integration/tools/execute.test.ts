import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { caller } from "../../support/home.ts";
import { program } from "../../support/real-daemon.ts";
import { useTools } from "./tool-home.ts";

const tools = useTools();
const chat = "11111111-1111-4111-8111-111111111111";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("execute", () => {
  test("runs a command and says how it ended", async () => {
    const result = await tools.call("execute", { command: "echo out; echo err >&2; exit 3" });
    expect(result).toMatchObject({
      success: false,
      exit_code: 3,
      output: "out\nerr\n",
      process_id: expect.any(String),
    });
    expect(result.wall_duration_ms).toBeLessThan(5_000);
    expect(Object.keys(result).toSorted()).toEqual([
      "exit_code",
      "output",
      "process_id",
      "success",
      "wall_duration_ms",
    ]);
    expect(await tools.call("execute", { command: "true" })).toMatchObject({ success: true, exit_code: 0 });
  });

  test("says which signal ended it", async () => {
    const result = await tools.call("execute", { command: "kill -9 $$" });
    expect(result).toMatchObject({ success: false, exit_code: -1, signal: "SIGKILL" });
  });

  test("a start that fails has no exit code", async () => {
    const result = await tools.call("execute", { command: "true", workdir: "/no/such/place" });
    expect(result).toEqual({ success: false, error: expect.stringContaining("/no/such/place") });
    expect(await tools.call("execute", { command: "true", shell: "no-such-shell" })).toMatchObject({ success: false });
  });

  test("pain P10: a timeout ends the call and not the command", async () => {
    const result = await tools.call("execute", { command: "echo begun; sleep 1; echo done", timeout: "300ms" });
    const { process_id } = result;
    expect(result).toMatchObject({
      success: false,
      running: true,
      error: "command timed out after 300ms",
      output: "begun\n",
      background_process_id: process_id,
      note: `still running; to go on waiting: process_wait {"process_id":"${process_id}","from":6,"timeout":"45s"}`,
    });
    expect(result).not.toHaveProperty("exit_code");
    expect(result).not.toHaveProperty("wall_duration_ms");
    const rest = await tools.call("process_wait", { process_id, from: result.next });
    expect(rest).toMatchObject({ success: true, fired: "exit", exit_code: 0, output: "done\n" });
  });

  test("pain P3: answers at the exit of the command, with what it left behind", async () => {
    for (const command of ["sleep 30 &", "(sleep 30 &);", "nohup sleep 30 &"]) {
      const result = await tools.call("execute", { command: `${command} sleep 0.2; echo started` });
      expect(result).toMatchObject({ success: true, exit_code: 0, leftovers: [{ command: "sleep 30" }] });
      expect(result.output).toContain("started\n");
      await tools.call("process_stop", { process_id: result.process_id });
    }
  });

  test("a trailing & makes it a background start whose id is the handle", async () => {
    const result = await tools.call("execute", { command: "sleep 30 &" });
    expect(result).toMatchObject({ success: true, backgrounded: true, background_process_id: result.process_id });
    expect(result.note).toContain("trailing &");
    expect(result).not.toHaveProperty("exit_code");
    const { processes } = await tools.call("process_list");
    expect(processes).toMatchObject([{ id: result.process_id, command: "sleep 30", background: true, running: true }]);
  });

  test("pain P16: starts a server and returns when its port is open", async () => {
    const port = await freePort();
    const command = `${program("listens")} ${port} 200`;
    const result = await tools.call("execute", { command, run_in_background: true, wait_for: { port } });
    expect(result).toMatchObject({ success: true, fired: "port", running: true, backgrounded: true });
    const { processes } = await tools.call("process_list");
    expect(processes[0]).toMatchObject({ ports: [port] });
    const again = await tools.call("execute", {
      command: "sleep 30",
      run_in_background: true,
      wait_for: { port },
      timeout: "300ms",
    });
    expect(again).toMatchObject({ success: false, fired: "timeout", port_held_by: expect.stringContaining("listens") });
  });

  test("a server that ends before it is ready is no success", async () => {
    const result = await tools.call("execute", {
      command: "echo address in use; exit 1",
      run_in_background: true,
      wait_for: { match: "ready" },
    });
    expect(result).toMatchObject({ success: false, fired: "exit", exit_code: 1, output: "address in use\n" });
    expect(result).not.toHaveProperty("backgrounded");
  });

  test("nothing opens an editor, a pager or a prompt", async () => {
    const command = "echo $CODER_CHAT_AGENT $AGENT_BROWSER_SESSION $EDITOR $GIT_PAGER $TERM $CI $CODER_CHAT_ID; cat";
    const result = await tools.call("execute", { command }, caller(chat));
    expect(result.output).toBe(`true ${chat} true cat dumb true ${chat}\n`);
  });

  test("advises read_file for dumps of files", async () => {
    expect((await tools.call("execute", { command: "cat /etc/hostname" })).note).toContain("read_file");
    expect(await tools.call("execute", { command: "cat <<E\nx\nE" })).not.toHaveProperty("note");
    expect(await tools.callIn("codex", "exec_command", { cmd: "cat /etc/hostname" })).not.toHaveProperty("note");
  });

  test("a relative directory lies below the caller's", async () => {
    const input = { name: "execute", workdir: "/usr", arguments: { command: "pwd", workdir: "lib" } };
    expect(await tools.operations["tool.call"](input, caller())).toMatchObject({ output: "/usr/lib\n" });
    const plain = { name: "execute", workdir: "/usr", arguments: { command: "pwd" } };
    expect(await tools.operations["tool.call"](plain, caller())).toMatchObject({ output: "/usr\n" });
  });

  test("ends after its lifetime when it has one", async () => {
    const result = await tools.call("execute", { command: "sleep 30", lifetime: "200ms", timeout: "10s" });
    expect(result).toMatchObject({ success: false, exit_code: -1, reason: "timeout" });
  });

  test("bad arguments name the nearest right one, and start nothing", async () => {
    const refused = async (given: Record<string, unknown>) => {
      const error = await tools.call("execute", given).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: "tool/bad-arguments" });
      return (error as Error).message;
    };
    expect(await refused({ command: "true", time_out: "1s" })).toContain('did you mean "timeout"');
    expect(await refused({ command: "true", timeout: "ten" })).toContain('"ten" is no duration');
    expect(await refused({ command: "true", timeout: "10" })).toContain('did you mean "10s"');
    expect(await refused({ command: "true", timeout: "-1s" })).toContain('"-1s" is no duration');
    expect(await refused({ command: "true", max_output_bytes: -1 })).toContain("max_output_bytes");
    expect(await refused({ command: "true", max_output_bytes: 1e12 })).toContain("max_output_bytes");
    expect(await refused({ command: "true", wait_for: { prot: 1 } })).toContain('"wait_for.prot"');
    expect(await refused({ command: "true", lifetime: "99999999h" })).toContain("over the bound");
    expect(await refused(JSON.parse('{"command":"true","__proto__":{"a":1}}'))).toContain("__proto__");
    expect(await refused({})).toContain("command");
    expect(await refused({ command: 7 })).toContain("command");
    await expect(tools.call("exekute", {})).rejects.toMatchObject({ code: "tool/unknown" });
    await expect(tools.call("exekute", {})).rejects.toThrow('Did you mean "execute"?');
    expect((await tools.call("process_list")).processes).toEqual([]);
  });

  test("names in any case and null are understood as Go's decoder does", async () => {
    expect(await tools.call("execute", { Command: "true", timeout: null })).toMatchObject({ success: true });
  });
});

describe("a command that waits for input", () => {
  test("pain P8: is told apart, and the result says which call answers", async () => {
    const began = performance.now();
    const result = await tools.call("execute", { command: program("reads-line"), tty: true, timeout: "30s" });
    expect(performance.now() - began).toBeLessThan(10_000);
    const { process_id } = result;
    expect(result).toMatchObject({
      success: true,
      running: true,
      waiting: { kind: "waiting_line", answer_with: `process_input {"process_id":"${process_id}","text":"…"}` },
    });
    expect(result).not.toHaveProperty("error");
    const answered = await tools.call("process_input", { process_id, text: "Ada" });
    expect(answered).toMatchObject({ exit_code: 0, written_bytes: 4 });
    expect(answered.output).toContain("Ada");
  });

  test("a password is asked for as a secret and never shown", async () => {
    const result = await tools.call("execute", { command: program("reads-secret"), tty: true, timeout: "30s" });
    expect(result).toMatchObject({ waiting: { kind: "waiting_secret" } });
    expect(result.waiting.answer_with).toContain('"secret":true');
    const { process_id } = result;
    const answered = await tools.call("process_input", { process_id, text: "hunter2", secret: true });
    expect(JSON.stringify(answered)).not.toContain("hunter2");
    const echoed = await tools.call("execute", { command: "read x; echo got $x", interactive: true, timeout: "5s" });
    const shown = await tools.call("process_input", { process_id: echoed.process_id, text: "hunter2", secret: true });
    expect(shown.output).toBe("got [secret]\n");
  });

  test("keys need no Enter", async () => {
    const result = await tools.call("execute", { command: program("reads-keys"), tty: true, timeout: "30s" });
    expect(result).toMatchObject({ waiting: { kind: "waiting_keys" } });
    expect(result.waiting.answer_with).toContain('"press_enter":false');
  });

  test("pain P9: a command that only sleeps is not believed to wait", async () => {
    const result = await tools.call("execute", {
      command: "printf 'Password: '; sleep 30",
      tty: true,
      timeout: "2500ms",
    });
    expect(result).toMatchObject({ success: false, running: true, error: "command timed out after 2.5s" });
    expect(result).not.toHaveProperty("waiting");
  });

  test("input can be closed", async () => {
    const { process_id } = await tools.call("execute", { command: "wc -l", interactive: true, timeout: "5s" });
    await tools.call("process_input", { process_id, text: "a\nb" });
    const result = await tools.call("process_input", { process_id, close: true });
    expect(result).toMatchObject({ success: true, exit_code: 0, output: "2\n" });
    const deaf = await tools.call("execute", { command: "sleep 30", run_in_background: true });
    const unheard = await tools.call("process_input", { process_id: deaf.process_id, text: "x" });
    expect(unheard).toMatchObject({ success: false, error: expect.stringContaining("`tty: true`") });
    const late = await tools.call("process_input", { process_id, text: "c" });
    expect(late).toMatchObject({ success: false, error: expect.stringContaining("ended") });
  });
});
