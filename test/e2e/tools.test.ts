import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/sdk/index.ts";
import { type Answer, program, RealDaemon } from "../support/real-daemon.ts";

let daemon: RealDaemon;
let long: Promise<{ answer: Answer; ms: number }>;
const chat = { "Coder-Chat-Id": "11111111-1111-4111-8111-111111111111" };
const other = { "Coder-Chat-Id": "22222222-2222-4222-8222-222222222222" };

const call = (name: string, given?: unknown, headers?: Record<string, string>) =>
  daemon.call("POST", `/api/v0/tools/${name}`, given, headers);

beforeAll(async () => {
  daemon = await RealDaemon.start();
  const began = performance.now();
  long = call("execute", { command: "echo begun; sleep 300", timeout: "5m" }).then((answer) => ({
    answer,
    ms: performance.now() - began,
  }));
});
afterAll(() => daemon.close());

describe("tools over HTTP", () => {
  test("are listed with their schemas, also under names that models know", async () => {
    const { body } = await daemon.call("GET", "/api/v0/tools");
    expect(body.tools.map((tool: { name: string }) => tool.name)).toEqual(
      expect.arrayContaining(["execute", "process_output", "process_wait", "process_input", "read_file"]),
    );
    expect(body.tools[0]).toMatchObject({ input_schema: { type: "object" }, annotations: { readOnlyHint: false } });
    const claude = await daemon.call("GET", "/api/v0/tools?set=claude");
    expect(claude.body.tools[0]).toMatchObject({ name: "Bash" });
    expect(await daemon.call("GET", "/api/v0/tools?set=nonsense")).toMatchObject({ status: 400 });
  });

  test("a server is started in the background, waited for, read and stopped; nothing is left", async () => {
    const command = `${program("listens")} 0 100`;
    const match = "listening";
    const started = await call("execute", { command, run_in_background: true, label: "server" }, chat);
    const { process_id } = started.body;
    expect(started).toMatchObject({ status: 200, body: { success: true, background_process_id: process_id } });
    const found = await call("process_wait", { process_id, for: { match, activity: "listening" } }, chat);
    expect(found.body).toMatchObject({ success: true, running: true });
    const foreign = await call("process_output", { process_id: "server" }, other);
    expect(foreign.body).toMatchObject({ success: false, error: expect.stringContaining("Nothing is running.") });
    expect((await call("process_list", undefined, chat)).body.processes[0]).toMatchObject({
      ports: [expect.any(Number)],
    });
    expect((await call("process_stop", { process_id: "server" }, chat)).body).toMatchObject({ success: true });
    expect((await call("process_list", {}, chat)).body.processes).toMatchObject([{ id: process_id, running: false }]);
  });

  test("bad calls say what would be right", async () => {
    const unknown = await call("proces_list");
    expect(unknown).toMatchObject({ status: 404, body: { code: "tool/unknown", data: { nearest: "process_list" } } });
    const misspelt = await call("execute", { comand: "true" });
    expect(misspelt).toMatchObject({ status: 400, body: { code: "tool/bad-arguments" } });
    const fields = misspelt.body.validations.map((v: { field: string }) => v.field);
    expect(fields).toEqual(expect.arrayContaining(["command", "comand"]));
    expect(await call("execute", "[]")).toMatchObject({ status: 400, body: { code: "request/invalid-json" } });
    expect(await call("execute", "{")).toMatchObject({ status: 400, body: { code: "request/invalid-json" } });
    expect(await call("process_list", "null")).toMatchObject({ status: 200 });
    expect(await call("execute", { command: "true", timeout: "1" })).toMatchObject({ status: 400 });
    expect(await call("process_search", { process_id: "x", query: "q", limit: 1e9 })).toMatchObject({ status: 400 });
    const text = "x".repeat(5 << 20);
    expect(await call("execute", { command: text })).toMatchObject({
      status: 413,
      body: { code: "request/too-large" },
    });
  });

  test("a regular expression that would take for ever is bounded", async () => {
    const { body } = await call("execute", { command: `printf '%0100d\\n' 0` });
    const search = { process_id: body.process_id, query: "(0+)+1$", regex: true };
    expect((await call("process_search", search)).body).toMatchObject({ success: false, error: expect.any(String) });
  });

  test("a handle outlives the daemon", async () => {
    const apart = await RealDaemon.start();
    const tool = (name: string, given: object) => apart.call("POST", `/api/v0/tools/${name}`, given);
    const { body } = await tool("execute", { command: "echo a; sleep 1; echo b", timeout: "100ms" });
    await apart.restart();
    const rest = await tool("process_wait", { process_id: body.process_id, from: body.next });
    expect(rest.body).toMatchObject({ success: true, fired: "exit", exit_code: 0, output: "b\n" });
    await apart.close();
  });

  test("the client lists and calls", async () => {
    const client = createClient({ url: daemon.url, token: daemon.token });
    expect((await client.tools.list({ set: "codex" })).tools[0]).toMatchObject({ name: "exec_command" });
    const given = { set: "codex" as const, arguments: { cmd: "echo hi" } };
    expect(await client.tools.call("exec_command", given)).toMatchObject({ success: true, output: "hi\n" });
    await expect(client.tools.call("exec_comand", given)).rejects.toMatchObject({ code: "tool/unknown" });
    client.close();
  });

  test("pain P22: no call blocks longer than 45 s; what takes longer is a handle", async () => {
    const { answer, ms } = await long;
    const { process_id } = answer.body;
    expect(ms).toBeLessThan(50_000);
    expect(answer.body).toMatchObject({ success: true, running: true, output: "begun\n", process_id });
    expect(answer.body).not.toHaveProperty("error");
    expect(answer.body).not.toHaveProperty("exit_code");
    expect(answer.body.note).toContain(`process_wait {"process_id":"${process_id}"`);
    expect((await call("process_stop", { process_id })).body).toMatchObject({ success: true });
  });
});
