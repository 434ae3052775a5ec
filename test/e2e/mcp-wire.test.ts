import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectHttp, connectStdio, mainPath } from "../support/mcp-client.ts";
import { RealDaemon } from "../support/real-daemon.ts";
import { until } from "../support/until.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

type Message = Record<string, unknown> & { error?: { code: number; message: string } };

/** `drover mcp` with nothing but pipes: whatever is written to it, and every line that comes back. */
class Wire {
  readonly child: ChildProcess;
  readonly lines: string[] = [];

  constructor(args: string[] = [], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [mainPath, "mcp", "--home", daemon.home, ...args], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    });
    if (this.child.stdout) createInterface({ input: this.child.stdout }).on("line", (line) => this.lines.push(line));
  }

  write(...messages: unknown[]): void {
    for (const m of messages) this.child.stdin?.write(`${typeof m === "string" ? m : JSON.stringify(m)}\n`);
  }

  get messages(): Message[] {
    return this.lines.map((line) => JSON.parse(line) as Message);
  }

  answer(id: unknown): Promise<Message> {
    return until(`${String(id)} is answered`, () => this.messages.find((m) => m["id"] === id && !("method" in m)));
  }

  async close(): Promise<number | null> {
    const gone = new Promise<number | null>((done) => this.child.once("exit", done));
    this.child.stdin?.end();
    return gone;
  }
}

const initialize = {
  jsonrpc: "2.0",
  id: "hello",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
const request = (id: unknown, method: string, params?: object) => ({ jsonrpc: "2.0", id, method, params });
const execute = (command: string, more: object = {}) => ({ name: "execute", arguments: { command, ...more } });

describe("nonsense on stdin", () => {
  test("is answered with errors of the protocol and ends nothing", async () => {
    const wire = new Wire();
    wire.write(initialize, initialized);
    await wire.answer("hello");
    wire.write(
      "garbage",
      "{",
      "[]",
      "42",
      '"text"',
      "null",
      '{"jsonrpc":"1.0","id":7,"method":"x"}',
      "",
      "   ",
      "\u0000",
    );
    wire.write(
      request(1, "no/such/method"),
      request(2, "tools/call"),
      request(3, "tools/call", { name: 5 }),
      request(4, "tools/call", { name: "execute", arguments: "x" }),
      request(5, "resources/read", {}),
      request(6, "initialize", {}),
    );
    // Answers nobody asked for, cancellations of nothing, notifications that do not exist.
    wire.write(
      { jsonrpc: "2.0", id: 99, result: {} },
      { jsonrpc: "2.0", id: 99, error: { code: 1, message: "x" } },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 12345 } },
      { jsonrpc: "2.0", method: "notifications/cancelled" },
      { jsonrpc: "2.0", method: "notifications/none" },
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
    );
    wire.write(request("last", "tools/call", execute("echo still here")));
    expect(await wire.answer("last")).toMatchObject({ result: { structuredContent: { output: "still here\n" } } });
    expect((await wire.answer(1)).error?.code).toBe(-32_601);
    for (const id of [2, 3, 4]) expect((await wire.answer(id)).error?.code, String(id)).toBe(-32_602);
    // Here the library calls parameters of a wrong shape an internal error.
    for (const id of [5, 6]) expect([-32_602, -32_603]).toContain((await wire.answer(id)).error?.code);
    expect((await wire.answer(7)).error?.code).toBe(-32_600);
    const unreadable = wire.messages.filter((m) => m["id"] === null).map((m) => m.error?.code);
    expect(unreadable.toSorted((a, b) => Number(b) - Number(a))).toEqual([
      -32_600, -32_600, -32_600, -32_600, -32_700, -32_700, -32_700,
    ]);
    expect(await wire.close()).toBe(0);
  });

  test("requests before the handshake are answered, and the handshake still works", async () => {
    const wire = new Wire();
    wire.write(request(1, "tools/list"), request(2, "tools/call", execute("echo early")));
    await wire.answer(1);
    await wire.answer(2);
    wire.write(initialize, initialized, request(3, "ping"));
    expect(await wire.answer("hello")).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    expect(await wire.answer(3)).toMatchObject({ result: {} });
    expect(await wire.close()).toBe(0);
  });

  test("a message that is too long is refused, the next one is served", async () => {
    const wire = new Wire();
    wire.write(initialize, initialized);
    const piece = "x".repeat(1 << 20);
    for (let i = 0; i < 17; i++) wire.child.stdin?.write(piece);
    wire.write("", request(1, "ping"));
    expect(await wire.answer(1)).toMatchObject({ result: {} });
    expect(wire.messages.find((m) => m["id"] === null)?.error).toMatchObject({
      code: -32_600,
      message: expect.stringContaining("bytes"),
    });
    expect(await wire.close()).toBe(0);
  });

  test("an unknown protocol version gets ours", async () => {
    const wire = new Wire();
    wire.write({ ...initialize, params: { ...initialize.params, protocolVersion: "1999-01-01" } });
    expect(await wire.answer("hello")).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    await wire.close();
  });
});

describe("drover mcp", () => {
  test("answers what was asked before the input ended, and ends by itself", async () => {
    const wire = new Wire();
    wire.write(initialize, initialized, request(1, "tools/call", execute("sleep 0.3; echo late")));
    expect(await wire.close()).toBe(0);
    expect(wire.messages.find((m) => m["id"] === 1)).toMatchObject({
      result: { structuredContent: { output: "late\n" } },
    });
  });

  test("ends at once when its client goes away, and the process it waited for goes on", async () => {
    const wire = new Wire();
    const label = "outlives-client";
    wire.write(initialize, initialized, request(1, "tools/call", execute("exec sleep 300", { label, timeout: "40s" })));
    const find = async () => (await daemon.process("GET", `list?label=${label}`)).body.processes[0];
    const { id } = await until("it runs", find);
    const begun = Date.now();
    await wire.close();
    expect(Date.now() - begun).toBeLessThan(5_000);
    expect(await find()).toMatchObject({ id, running: true });
    await daemon.process("POST", `${id}/stop`);
  });

  test("starts a daemon when none runs", async () => {
    const home = mkdtempSync(join(tmpdir(), "drover-mcp-"));
    const peer = await connectStdio({ home });
    const result = await peer.client.callTool(execute("echo first"));
    expect(result.structuredContent).toMatchObject({ success: true, output: "first\n" });
    await peer.close();
    const ended = spawn(process.execPath, [mainPath, "shutdown", "--home", home], { stdio: "ignore" });
    await new Promise((done) => ended.once("exit", done));
    rmSync(home, { recursive: true, force: true });
  });

  test("inside a process of Drover it uses the daemon that runs, and says so when there is none", async () => {
    const env = { DROVER_PROCESS_ID: "00000000-0000-4000-8000-000000000000" };
    const inside = await connectStdio({ home: daemon.home, env });
    expect((await inside.client.callTool(execute("echo in"))).structuredContent).toMatchObject({ output: "in\n" });
    await inside.close();
    const home = mkdtempSync(join(tmpdir(), "drover-mcp-"));
    const alone = await connectStdio({ home, env });
    const result = await alone.client.callTool(execute("echo in"));
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("no daemon runs") }] });
    expect(JSON.stringify(result.content)).toContain("drover serve");
    await until("stderr says it too", () => alone.stderr.join("").includes("no daemon runs"));
    await alone.close();
    rmSync(home, { recursive: true, force: true });
  });

  test("runs commands where it was started", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "drover-project-"));
    const peer = await connectStdio({ home: daemon.home, cwd });
    expect((await peer.client.callTool(execute("pwd"))).structuredContent).toMatchObject({ output: `${cwd}\n` });
    const elsewhere = await peer.client.callTool(execute("pwd", { workdir: "/" }));
    expect(elsewhere.structuredContent).toMatchObject({ output: "/\n" });
    await peer.close();
    rmSync(cwd, { recursive: true, force: true });
  });

  test("survives the daemon: a command that runs is found again, not started twice", async () => {
    const peer = await connectStdio({ home: daemon.home, args: ["--no-spawn"] });
    const label = "over-restart";
    const waiting = peer.client.callTool(execute("echo one; sleep 4; echo two", { label, timeout: "30s" }));
    const list = async () => (await daemon.process("GET", `list?all=true&label=${label}`)).body.processes;
    await until("it runs", async () => (await list()).length > 0);
    await daemon.restart();
    expect((await waiting).structuredContent).toMatchObject({ success: true, output: "one\ntwo\n", exit_code: 0 });
    expect(await list()).toHaveLength(1);
    await daemon.restart();
    const after = await peer.client.callTool({ name: "process_output", arguments: { process_id: label } });
    expect(after.structuredContent).toMatchObject({ output: "one\ntwo\n" });
    await peer.close();
  });

  test("pain P22: no call lasts longer than 45 s, however long it was to wait, and the result goes on", {
    timeout: 90_000,
  }, async () => {
    const over = [
      await connectStdio({ home: daemon.home }),
      await connectHttp({ url: daemon.url, token: daemon.token, protocol: "2026-07-28" }),
    ];
    await Promise.all(
      over.map(async (peer) => {
        const begun = Date.now();
        // The library itself gives up at 60 s.
        const { structuredContent } = await peer.client.callTool(execute("exec sleep 600", { timeout: "10m" }));
        expect(Date.now() - begun).toBeGreaterThan(44_000);
        expect(Date.now() - begun).toBeLessThan(50_000);
        expect(structuredContent).toMatchObject({ running: true, process_id: expect.any(String) });
        expect(JSON.stringify(structuredContent)).toContain("process_wait");
        const { process_id } = structuredContent as Record<string, unknown>;
        await peer.client.callTool({ name: "process_stop", arguments: { process_id } });
        await peer.close();
      }),
    );
  });
});
