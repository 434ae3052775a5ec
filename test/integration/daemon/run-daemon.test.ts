import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../../src/base/index.ts";
import { type Daemon, type DaemonOptions, runDaemon } from "../../../src/daemon/index.ts";

let root: string;
let home: string;
let daemons: Daemon[];
let blocker: Server | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "drover-daemon-"));
  home = root;
  daemons = [];
});
afterEach(async () => {
  for (const daemon of daemons) await daemon.close();
  blocker?.close();
  rmSync(root, { recursive: true, force: true });
});

async function run(more: Partial<DaemonOptions> = {}): Promise<Daemon> {
  const daemon = await runDaemon({
    home,
    version: "1.2.3",
    env: process.env,
    port: 0,
    log: createLog(2, "error"),
    ...more,
  });
  daemons.push(daemon);
  return daemon;
}

async function call(daemon: Daemon, method: string, path: string, body?: object) {
  const token = readFileSync(join(daemon.home, "token"), "utf8").trim();
  const response = await fetch(daemon.url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

function readReady(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as Record<string, unknown>;
}

describe("the daemon", () => {
  test("says where it is once it answers, and takes that back when it ends", async () => {
    const daemon = await run();
    expect(readReady()).toMatchObject({
      url: daemon.url,
      socket: daemon.socket,
      pid: process.pid,
      version: "1.2.3",
      protocol: 1,
    });
    expect(statSync(daemon.socket).mode & 0o777).toBe(0o600);
    expect(await call(daemon, "GET", "/healthz")).toEqual({ status: 200, body: { ok: true, version: "1.2.3" } });
    await daemon.close();
    expect(existsSync(join(home, "daemon.json"))).toBe(false);
  });

  test("is alone in its home", async () => {
    await run();
    await expect(run()).rejects.toMatchObject({
      code: "daemon/already-running",
      message: expect.stringContaining(String(process.pid)),
    });
  });

  test("refuses a taken port, or takes a free one when it was started by itself", async () => {
    const server = createServer();
    blocker = server;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await expect(run({ port })).rejects.toMatchObject({ code: "daemon/port-taken" });
    const daemon = await run({ port, fallbackPort: true });
    expect(daemon.url).not.toContain(`:${port}`);
  });

  test("answers a shutdown before it ends, and processes go on until the next daemon", async () => {
    const first = await run();
    const started = await call(first, "POST", "/api/v0/processes/start", { command: "sleep 30" });
    const answer = await call(first, "POST", "/api/v0/shutdown", {});
    expect(answer).toEqual({ status: 200, body: { shutting_down: true, left_running: 1, stopped: 0 } });
    await first.closed;
    const second = await run();
    const info = await call(second, "GET", `/api/v0/processes/${String(started.body["id"])}`);
    expect(info.body).toMatchObject({ running: true, state: "running" });
    expect((await call(second, "GET", "/api/v0/status")).body).toMatchObject({ running: 1, adopted: 1, home });
    expect((await call(second, "POST", "/api/v0/shutdown", { stop_all: true })).body).toMatchObject({
      stopped: 1,
      left_running: 0,
    });
    await second.closed;
  });

  test("leaves nothing open when it cannot come up", async () => {
    writeFileSync(join(home, "config.json"), JSON.stringify({ prot: 1 }));
    await expect(run()).rejects.toMatchObject({ code: "config/invalid" });
    rmSync(join(home, "config.json"));
    await run();
  });

  test("works in a home that is too deep for a socket path", async () => {
    home = join(home, "d".repeat(100));
    mkdirSync(home);
    const daemon = await run();
    const started = await call(daemon, "POST", "/api/v0/processes/start", {
      command: "echo deep",
      wait: { for: { exit: true } },
    });
    expect(started.body).toMatchObject({ wait: { output: "deep\n", exit_code: 0 } });
    const info = await call(daemon, "POST", "/api/v0/processes/start", { command: "sleep 30" });
    expect((await call(daemon, "POST", `/api/v0/processes/${String(info.body["id"])}/stop`, {})).body).toMatchObject({
      stopped: true,
    });
  });
});
