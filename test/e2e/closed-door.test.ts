import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { RealDaemon } from "../support/real-daemon.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

function raw(o: {
  path: string;
  headers?: Record<string, string>;
  socketPath?: string;
}): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(daemon.url);
  return new Promise((done, fail) => {
    const target = o.socketPath ? { socketPath: o.socketPath } : { host: hostname, port };
    const req = request({ ...target, path: o.path, headers: { ...o.headers } }, (res) => {
      let body = "";
      res.on("data", (b) => {
        body += b;
      });
      res.on("end", () => done({ status: res.statusCode ?? 0, body }));
    });
    req.on("error", fail).end();
  });
}

// Promise: closed-door
describe("the door", () => {
  const list = "/api/v0/processes/list";

  test("answers nothing without a token but health", async () => {
    for (const path of [list, "/metrics", "/api/v0/openapi.json", "/api/v0/events", "/api/v0/status"])
      expect((await raw({ path })).status, path).toBe(401);
    expect((await raw({ path: list, headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    expect((await raw({ path: list, headers: { authorization: `Bearer ${daemon.token}x` } })).status).toBe(401);
    expect((await raw({ path: "/healthz" })).status).toBe(200);
  });

  test("pain S20: refuses foreign pages and foreign hosts, with or without a token", async () => {
    const authorization = `Bearer ${daemon.token}`;
    expect((await raw({ path: list, headers: { authorization, origin: "https://evil.example" } })).status).toBe(403);
    expect((await raw({ path: list, headers: { authorization, origin: "http://127.0.0.1:1" } })).status).toBe(403);
    expect((await raw({ path: list, headers: { authorization, origin: "null" } })).status).toBe(403);
    expect((await raw({ path: list, headers: { authorization, host: "evil.example" } })).status).toBe(403);
    expect((await raw({ path: "/healthz", headers: { host: "evil.example:7333" } })).status).toBe(403);
    expect(
      (await raw({ path: list, headers: { authorization, host: `localhost:${new URL(daemon.url).port}` } })).status,
    ).toBe(200);
    expect((await raw({ path: list, headers: { authorization, origin: daemon.url } })).status).toBe(200);
  });

  test("refuses a WebSocket without a token or from a foreign page", async () => {
    const id = await daemon.started({ command: "sleep 60", tty: true });
    const url = `${daemon.url.replace("http", "ws")}/api/v0/processes/${id}/attach`;
    const outcome = (options: object) =>
      new Promise((done) => {
        const socket = new WebSocket(url, options);
        socket.on("unexpected-response", (_req, res) => done(res.statusCode));
        socket.on("open", () => {
          socket.close();
          done("open");
        });
        socket.on("error", () => done("error"));
      });
    expect(await outcome({})).toBe(401);
    const headers = { authorization: `Bearer ${daemon.token}` };
    expect(await outcome({ headers, origin: "https://evil.example" })).toBe(403);
    expect(await outcome({ headers })).toBe("open");
    await daemon.process("POST", `${id}/stop`, { signals: [{ signal: "KILL" }] });
  });

  test("is open on the Unix socket, which only its owner can reach", async () => {
    const socketPath = join(daemon.home, "drover.sock");
    expect((await raw({ path: list, socketPath })).status).toBe(200);
    expect((await raw({ path: list, socketPath, headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  });

  test("keeps everything in the home to its owner", async () => {
    await daemon.started({ command: "echo x", wait: {} });
    const walk = (folder: string): string[] =>
      readdirSync(folder, { withFileTypes: true }).flatMap((e) => [
        join(folder, e.name),
        ...(e.isDirectory() ? walk(join(folder, e.name)) : []),
      ]);
    expect(statSync(daemon.home).mode & 0o077).toBe(0);
    for (const path of walk(daemon.home)) expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
  });

  test("keeps environment values out of files, rows, events, logs and arguments", async () => {
    const secret = `hush-${Math.random().toString(36).slice(2)}`;
    const start = await daemon.process("POST", "start", {
      command: 'test -n "$SECRET" && sleep 60',
      env: { SECRET: secret },
      client_token: "t",
    });
    expect(start.status).toBe(200);
    const { body: info } = await daemon.process("GET", start.body.id);
    expect(JSON.stringify(info)).not.toContain(secret);
    await new Promise((done) => setTimeout(done, 300));
    const found = execFileSync("sh", ["-c", `grep -rl ${secret} ${daemon.home} || true`], { encoding: "utf8" });
    expect(found).toBe("");
    expect(daemon.stderr).not.toContain(secret);
    const argv = execFileSync(
      "sh",
      [
        "-c",
        "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c \"$0\" || true",
        `${secret.slice(0, 4)}[-]${secret.slice(5)}`,
      ],
      { encoding: "utf8" },
    );
    expect(argv.trim()).toBe("0");
    await daemon.process("POST", `${start.body.id}/stop`, { signals: [{ signal: "KILL" }] });
  });
});
