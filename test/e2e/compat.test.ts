import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RealDaemon } from "../support/real-daemon.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

const chatA = { "Coder-Chat-Id": "11111111-1111-4111-8111-111111111111" };
const chatB = { "Coder-Chat-Id": "22222222-2222-4222-8222-222222222222" };

describe("a client of the original process API", () => {
  test("starts, lists, reads and waits with the original's fields", async () => {
    const start = await daemon.process("POST", "start", {
      command: "echo out; echo err >&2; exit 3",
      background: true,
    });
    expect(start).toMatchObject({ status: 200, body: { started: true } });
    expect(start.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const output = await daemon.process("GET", `${start.body.id}/output?wait=true`);
    expect(output.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(output.body).toMatchObject({ output: "out\nerr\n", running: false, exit_code: 3 });
    expect(output.body.truncated).toBeUndefined();
    const list = await daemon.process("GET", "list");
    const entry = list.body.processes.find((p: { id: string }) => p.id === start.body.id);
    expect(entry).toMatchObject({
      command: "echo out; echo err >&2; exit 3",
      background: true,
      running: false,
      exit_code: 3,
    });
    expect(Number.isInteger(entry.started_at_unix)).toBe(true);
    expect(Number.isInteger(entry.exited_at_unix)).toBe(true);
  });

  test("is read as Go's decoder reads: no Content-Type, any case, null is absent, the rest is ignored", async () => {
    const bodies = [
      '{"COMMAND":"echo hi","Env":null,"unknown":{"a":1}}',
      '{"command":"echo hi","workdir":null,"env":{"A":"b"}} trailing bytes',
      '  {"command":"echo hi"}\n{"command":"exit 9"}',
    ];
    for (const body of bodies) {
      const start = await daemon.process("POST", "start", body);
      expect(start.status, body).toBe(200);
      expect((await daemon.process("GET", `${start.body.id}/output?wait=true`)).body.output).toBe("hi\n");
    }
  });

  test("gets the original's messages for bad requests, and nothing is registered", async () => {
    const before = (await daemon.process("GET", "list?all=true&limit=1000")).body.processes.length;
    const cases: [string, unknown, number, string][] = [
      ["start", "", 400, "Request body must be valid JSON."],
      ["start", "nope", 400, "Request body must be valid JSON."],
      ["start", '{"command":5}', 400, "Request body must be valid JSON."],
      ["start", "{}", 400, "Command is required."],
      ["start", '{"command":""}', 400, "Command is required."],
      ["start", '{"command":null}', 400, "Command is required."],
      [
        "00000000-0000-4000-8000-000000000001/signal",
        '{"signal":"kill"}',
        404,
        'Process "00000000-0000-4000-8000-000000000001" not found.',
      ],
      ["00000000-0000-4000-8000-000000000001/signal", "{", 400, "Request body must be valid JSON."],
      ["00000000-0000-4000-8000-000000000001/signal", "{}", 400, "Signal is required."],
    ];
    for (const [path, body, status, message] of cases) {
      const answer = await daemon.process("POST", path, body);
      expect([path, body, answer.status, answer.body.message]).toEqual([path, body, status, message]);
    }
    const wrong = await daemon.process("POST", "00000000-0000-4000-8000-000000000001/signal", { signal: "nonsense" });
    expect(wrong.status).toBe(400);
    expect(wrong.body.message).toContain('Unsupported signal "nonsense". Use "kill" or "terminate"');
    expect((await daemon.process("GET", "list?all=true&limit=1000")).body.processes.length).toBe(before);
  });

  test("signals the group and hears 409 afterwards", async () => {
    const id = await daemon.started({ command: "sleep 60 & sleep 60" });
    const signal = await daemon.process("POST", `${id}/signal`, { signal: "kill" });
    expect(signal).toMatchObject({ status: 200, body: { message: `Signal "kill" sent to process "${id}".` } });
    const end = await daemon.process("GET", `${id}/output?wait=true`);
    expect(end.body).toMatchObject({ running: false, exit_code: -1, signal: "SIGKILL", reason: "signalled_by_user" });
    await expect.poll(async () => (await daemon.process("POST", `${id}/signal`, { signal: "kill" })).status).toBe(409);
    expect((await daemon.process("POST", `${id}/signal`, { signal: "kill" })).body.message).toBe(
      `Process "${id}" is not running.`,
    );
  });

  // Promise: apart
  test("of one chat neither sees nor touches another's processes", async () => {
    const id = await daemon.started(
      { command: 'echo "$CODER_CHAT_ID"; sleep 60' },
      { "coder-chat-id": `{${chatA["Coder-Chat-Id"].toUpperCase()}}` },
    );
    const bare = await daemon.started({ command: "sleep 60" });
    const ids = async (headers: Record<string, string>) =>
      (await daemon.process("GET", "list", undefined, headers)).body.processes.map((p: { id: string }) => p.id);
    expect(await ids(chatA)).toEqual([id]);
    expect(await ids(chatB)).toEqual([]);
    expect(await ids({})).toEqual(expect.arrayContaining([id, bare]));
    for (const path of ["", "/output", "/log", "/log/search?q=a", "/tree", "/stream"])
      expect((await daemon.process("GET", id + path, undefined, chatB)).status, path).toBe(404);
    for (const path of ["/signal", "/stop", "/wait", "/stdin"])
      expect((await daemon.process("POST", id + path, { signal: "kill" }, chatB)).status, path).toBe(404);
    expect((await daemon.process("DELETE", id, undefined, chatB)).status).toBe(404);
    expect((await daemon.process("GET", `${bare}/output`, undefined, chatB)).status).toBe(200);
    await expect
      .poll(async () => (await daemon.process("GET", `${id}/output`, undefined, chatA)).body.output)
      .toBe(`${chatA["Coder-Chat-Id"]}\n`);
    for (const each of [id, bare]) await daemon.process("POST", `${each}/stop`, { signals: [{ signal: "KILL" }] });
  });

  test("gets head and tail of 16 KB, joined without a separator when nothing is missing", async () => {
    const id = await daemon.started({ command: "i=0; while [ $i -lt 2500 ]; do echo 1234567; i=$((i+1)); done" });
    const whole = await daemon.process("GET", `${id}/output?wait=true`);
    expect(whole.body.output).toBe("1234567\n".repeat(2500));
    expect(whole.body.truncated).toBeUndefined();
    const long = await daemon.started({
      command: "i=0; while [ $i -lt 9000 ]; do echo 1234567; i=$((i+1)); done; echo the-end",
    });
    const cut = await daemon.process("GET", `${long}/output?wait=true`);
    expect(cut.body.truncated).toMatchObject({
      original_bytes: 72008,
      omitted_bytes: 72008 - 32768,
      strategy: "head_tail",
    });
    expect(cut.body.output).toContain(`\n\n... [omitted ${72008 - 32768} bytes] ...\n\n`);
    expect(cut.body.output.endsWith("the-end\n")).toBe(true);
  });

  test("may close its connection after every request", async () => {
    const text = await new Promise<string>((done, fail) => {
      const { hostname, port } = new URL(daemon.url);
      const socket = connect(Number(port), hostname);
      let all = "";
      socket.on("data", (b) => {
        all += b;
      });
      socket.on("end", () => done(all)).on("error", fail);
      const body = '{"command":"true"}';
      socket.write(
        `POST /api/v0/processes/start HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${daemon.token}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(text).toContain('"started":true');
  });
});
