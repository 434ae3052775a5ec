import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RealDaemon, root } from "../support/real-daemon.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

const serve = (home: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(root, "dist/cli/main.js"), "serve", "--home", home, ...args], {
    encoding: "utf8",
    timeout: 20_000,
  });

describe("a bad start", () => {
  const cases: [name: string, body: unknown, status: number, code: string, words: RegExp][] = [
    ["wrong types", { command: "true", env: { A: 5 } }, 400, "request/invalid-json", /valid JSON/],
    ["a number where a flag belongs", { command: "true", tty: 1 }, 400, "request/invalid-json", /valid JSON/],
    ["command and argv", { command: "true", argv: ["true"] }, 400, "process/command-required", /argv/],
    ["NUL in the command", { command: "echo \0" }, 400, "request/invalid", /command/],
    ["NUL in argv", { argv: ["echo", "a\0b"] }, 400, "request/invalid", /argv/],
    ["NUL in a value", { command: "true", env: { A: "\0" } }, 400, "request/invalid", /env/],
    ["a name with =", { command: "true", env: { "A=B": "1" } }, 400, "request/invalid", /A=B/],
    ["NUL in the directory", { command: "true", workdir: "/tmp\0" }, 400, "request/invalid", /workdir/],
    [
      "a missing directory",
      { command: "true", workdir: "/no/such/dir" },
      400,
      "process/bad-workdir",
      /\/no\/such\/dir/,
    ],
    ["a file as directory", { command: "true", workdir: "/etc/passwd" }, 400, "process/bad-workdir", /\/etc\/passwd/],
    ["an unknown shell", { command: "true", shell: "nosuchshell" }, 400, "process/unknown-shell", /nosuchshell/],
    ["a missing program", { argv: ["no-such-program-x"] }, 400, "process/command-not-found", /no-such-program-x/],
    ["a file that is no program", { argv: ["/etc/passwd"] }, 400, "process/not-executable", /\/etc\/passwd/],
    [
      "an argument over the kernel's limit",
      { argv: ["true", "x".repeat(140_000)] },
      400,
      "process/too-long",
      /stdin|file/,
    ],
    [
      "an environment over the kernel's limit",
      {
        command: "true",
        env: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`V${i}`, "x".repeat(120_000)])),
      },
      400,
      "process/too-long",
      /./,
    ],
    ["a negative timeout", { command: "true", timeout_ms: -1 }, 400, "request/invalid", /timeout_ms/],
    ["a bad pattern in wait", { command: "true", wait: { for: { match: "(" } } }, 400, "regex/invalid", /./],
  ];
  test.each(cases)("with %s is refused and leaves nothing", async (...[, body, status, code, words]) => {
    const before = readdirSync(join(daemon.home, "run")).filter((name) => !name.startsWith(".")).length;
    const answer = await daemon.process("POST", "start", body);
    expect(answer).toMatchObject({ status, body: { code } });
    expect(JSON.stringify(answer.body)).toMatch(words);
    expect(readdirSync(join(daemon.home, "run")).filter((name) => !name.startsWith(".")).length).toBe(before);
  });

  test("over the bound is a 413", async () => {
    const answer = await daemon.process("POST", "start", JSON.stringify({ command: "x".repeat(5 << 20) }));
    expect(answer).toMatchObject({ status: 413, body: { code: "request/too-large" } });
  });

  test("with an unknown field is refused only when the caller is strict", async () => {
    expect((await daemon.process("POST", "start", { command: "true", workdri: "/" })).status).toBe(200);
    const strict = await daemon.process("POST", "start", { command: "true", workdri: "/" }, { "Drover-Strict": "1" });
    expect(strict).toMatchObject({ status: 400, body: { code: "request/unknown-field" } });
    expect(strict.body.message).toContain("workdir");
  });

  test("that repeats a token with another request is a 409", async () => {
    const first = await daemon.process("POST", "start", { command: "true", client_token: "once" });
    const again = await daemon.process("POST", "start", { command: "true", client_token: "once" });
    expect(again.body).toMatchObject({ id: first.body.id, attached: true });
    expect(await daemon.process("POST", "start", { command: "false", client_token: "once" })).toMatchObject({
      status: 409,
      body: { code: "process/token-conflict" },
    });
    const chat = { "Coder-Chat-Id": "33333333-3333-4333-8333-333333333333" };
    expect((await daemon.process("POST", "start", { command: "false", client_token: "once" }, chat)).status).toBe(200);
  });
});

describe("other bad requests", () => {
  test("get an error that names the trouble", async () => {
    const id = await daemon.started({ command: "sleep 60" });
    expect(await daemon.process("GET", `${id}/log?from=-1`)).toMatchObject({
      status: 400,
      body: { code: "request/invalid" },
    });
    expect(await daemon.process("GET", `${id}/log/search?q=${encodeURIComponent("(")}&regex=true`)).toMatchObject({
      status: 400,
      body: { code: "regex/invalid" },
    });
    expect(await daemon.process("POST", `${id}/stdin`, { data: "x" })).toMatchObject({
      status: 409,
      body: { code: "process/no-stdin" },
    });
    expect(await daemon.process("POST", `${id}/resize`, { cols: 10, rows: 10 })).toMatchObject({
      status: 409,
      body: { code: "process/no-terminal" },
    });
    expect(await daemon.process("POST", `${id}/wait`, { for: { http: "http://192.0.2.1/" } })).toMatchObject({
      status: 400,
    });
    expect(await daemon.process("POST", `${id}/stop`, { signals: [{ signal: "NOPE" }] })).toMatchObject({
      status: 400,
      body: { code: "process/unsupported-signal" },
    });
    expect(await daemon.call("GET", "/api/v0/nothing")).toMatchObject({
      status: 404,
      body: { code: "route/not-found" },
    });
    expect(await daemon.call("DELETE", "/api/v0/processes/list")).toMatchObject({ status: expect.any(Number) });
    expect((await daemon.process("GET", "../../etc/passwd")).status).toBe(404);
    expect((await daemon.process("GET", "not-an-id/output")).status).toBe(404);
    await daemon.process("DELETE", id);
    expect((await daemon.process("GET", id)).status).toBe(404);
  });
});

describe("a daemon that cannot start", () => {
  const home = () => mkdtempSync(join(tmpdir(), "drover-bad-"));

  test("because another holds the home says so", () => {
    const second = serve(daemon.home, "--port", "0");
    expect(second.status).toBe(6);
    expect(second.stderr).toContain("Another daemon holds");
    expect(second.stderr).toContain(String(daemon.pid));
  });

  test("because the port is taken names the port and the way out", async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const where = home();
    const second = serve(where, "--port", String(port));
    server.close();
    rmSync(where, { recursive: true });
    expect(second.status).toBe(6);
    expect(second.stderr).toMatch(new RegExp(`${port}[^]*--port`));
  });

  test("because of a wrong key in config.json names the nearest right one", () => {
    const where = home();
    writeFileSync(join(where, "config.json"), '{"log_byts": 70000}');
    const run = serve(where, "--port", "0");
    rmSync(where, { recursive: true });
    expect(run.status).toBe(6);
    expect(run.stderr).toContain("log_bytes");
  });

  test("because the home is no directory says so", () => {
    const where = home();
    writeFileSync(join(where, "file"), "");
    const run = serve(join(where, "file"), "--port", "0");
    rmSync(where, { recursive: true });
    expect(run.status).toBe(6);
    expect(run.stderr).toContain("file");
  });
});

describe("what is broken on disk", () => {
  test("is put aside, and the rest goes on", async () => {
    const own = await RealDaemon.start();
    const good = await own.started({ command: "echo good; sleep 60" });
    const ended = await own.started({ command: "exit 3" });
    await own.process("GET", `${ended}/output?wait=true`);
    const broken = await own.started({ command: "sleep 0.1" });
    await own.process("GET", `${broken}/output?wait=true`);
    await own.kill();
    writeFileSync(join(own.home, "drover.db"), "this is no database".repeat(1000));
    for (const rest of ["drover.db-wal", "drover.db-shm"]) rmSync(join(own.home, rest), { force: true });
    writeFileSync(join(own.home, "run", broken, "meta"), "{ torn");
    mkdirSync(join(own.home, "run", "99999999-9999-4999-8999-999999999999"), { mode: 0o700 });
    await own.spawn();
    expect((await own.process("GET", `${good}/output`)).body).toMatchObject({ running: true, output: "good\n" });
    expect((await own.process("GET", ended)).body).toMatchObject({ state: "exited", exit_code: 3 });
    expect((await own.process("GET", broken)).status).toBe(404);
    expect(readdirSync(join(own.home, "quarantine")).some((name) => name.startsWith(broken))).toBe(true);
    expect(readdirSync(own.home).some((name) => name.startsWith("drover.db.corrupt"))).toBe(true);
    await own.close();
  });

  test("as a state file is said when the log is asked for, and stop still ends the process", async () => {
    const own = await RealDaemon.start();
    const ended = await own.started({ command: "echo a" });
    await own.process("GET", `${ended}/output?wait=true`);
    const running = await own.started({ command: "echo b; sleep 60" });
    for (const id of [ended, running]) writeFileSync(join(own.home, "run", id, "state"), Buffer.alloc(4096, 7));
    for (const id of [ended, running]) {
      expect(await own.process("GET", `${id}/log?tail=9`)).toMatchObject({
        status: 500,
        body: { code: "log/damaged" },
      });
    }
    expect((await own.process("GET", running)).body).toMatchObject({ running: true, warnings: ["state_unreadable"] });
    expect((await own.process("POST", `${running}/stop`)).body).toMatchObject({ stopped: true, left: [] });
    await own.close();
  });

  test("as a run directory removed under a running process is said, and its end is still known", async () => {
    const own = await RealDaemon.start();
    const id = await own.started({ command: "echo a; sleep 1.5; exit 9" });
    rmSync(join(own.home, "run", id), { recursive: true });
    await expect.poll(async () => (await own.process("GET", id)).body.state, { timeout: 20_000 }).toBe("exited");
    const { body } = await own.process("GET", id);
    expect(body.exit_code).toBe(9);
    expect(body.warnings).toContain("run_dir_gone");
    await own.close();
  });
});

describe("a deep home", () => {
  test("works beyond the length of a socket path", async () => {
    const base = mkdtempSync(join(tmpdir(), "drover-deep-"));
    const deep = join(base, "a".repeat(60), "b".repeat(60), "home");
    mkdirSync(deep, { recursive: true, mode: 0o700 });
    chmodSync(deep, 0o700);
    const own = await RealDaemon.start({ home: deep });
    const id = await own.started({ command: "cat", stdin: { open: true } });
    expect((await own.process("POST", `${id}/stdin`, { data: "deep\n", close: true })).status).toBe(200);
    expect((await own.process("GET", `${id}/output?wait=true`)).body).toMatchObject({ output: "deep\n", exit_code: 0 });
    expect(readFileSync(join(deep, "daemon.json"), "utf8")).toContain("url");
    const cli = spawnSync(
      process.execPath,
      [join(root, "dist/cli/main.js"), "ps", "-a", "--home", deep, "--no-spawn", "--json"],
      { encoding: "utf8" },
    );
    expect(cli.stdout).toContain(id);
    await own.close();
    rmSync(base, { recursive: true });
  });
});
