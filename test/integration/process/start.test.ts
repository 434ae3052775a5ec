import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StartRequest } from "../../../src/contract/index.ts";
import { readOutput, type Supervisor } from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
const chat = "11111111-1111-4111-8111-111111111111";
let home: TestHome;
let supervisor: Supervisor;

beforeEach(async () => {
  home = new TestHome();
  supervisor = await home.open();
});
afterEach(() => home[Symbol.asyncDispose]());

async function run(request: StartRequest, chatId?: string): Promise<string> {
  const { record } = await supervisor.start(request, caller(chatId));
  await record.waitExit(never);
  return readOutput(supervisor, record).output;
}

async function faultOf(request: StartRequest): Promise<unknown> {
  return supervisor.start(request, caller()).then(
    () => "it started",
    (error: unknown) => error,
  );
}

describe("start", () => {
  test("runs a command and knows its exit code", async () => {
    const { record, attached } = await supervisor.start({ command: "exit 3" }, caller());
    expect(attached).toBe(false);
    await record.waitExit(never);
    expect(record.facts).toMatchObject({ state: "exited", exit_code: 3 });
    await record.waitEnd(never);
    expect(existsSync(supervisor.dirs.path(record.id))).toBe(true);
  });

  test("knows which signal ended a command", async () => {
    const { record } = await supervisor.start({ command: "kill -9 $$" }, caller());
    await record.waitExit(never);
    expect(record.facts).toMatchObject({ state: "exited", exit_code: -1, signal: "SIGKILL" });
  });

  test("keeps the order of stdout and stderr and runs as sh", async () => {
    expect(await run({ command: "echo a; echo b >&2; echo c; echo $0" })).toBe("a\nb\nc\nsh\n");
  });

  test("hands over the request's variables, the ids, and none of its own", async () => {
    await home.close();
    supervisor = await home.open(
      { env: { FROM_CONFIG: "1" } },
      { ...process.env, DROVER_TOKEN: "secret", CODER_PROC_NICE_SCORE: "5" },
    );
    const text = await run({ command: "env", env: { MINE: "x y" } }, chat);
    expect(text).toContain("MINE=x y\n");
    expect(text).toContain("FROM_CONFIG=1\n");
    expect(text).toContain(`CODER_CHAT_ID=${chat}\n`);
    expect(text).toMatch(/DROVER_PROCESS_ID=[0-9a-f-]{36}\n/);
    expect(text).not.toContain("secret");
    expect(text).not.toContain("CODER_PROC_");
  });

  test("asks the environment hook once per chat and directory, and goes on when it fails", async () => {
    const hook = join(home.path, "hook");
    writeFileSync(hook, `#!/bin/sh\necho called >>${home.path}/calls\necho "HOOKED=$1:$2"\n`);
    chmodSync(hook, 0o755);
    await home.close();
    supervisor = await home.open({ env_hook: hook, directory: "/usr" });
    expect(await run({ command: "echo $HOOKED" }, chat)).toBe(`${chat}:/usr\n`);
    expect(await run({ command: "echo $HOOKED" }, chat)).toBe(`${chat}:/usr\n`);
    expect(readdirSync(home.path)).toContain("calls");
    await home.close();
    supervisor = await home.open({ env_hook: "/nonexistent/hook" });
    expect(await run({ command: "echo still" })).toBe("still\n");
  });

  test("gives text to stdin and closes it", async () => {
    expect(await run({ command: "cat; echo end", stdin: "abc\n" })).toBe("abc\nend\n");
  });

  test("runs argv without a shell, looked for on the PATH of the process", async () => {
    const bin = join(home.path, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "mine"), "#!/bin/sh\necho found $1\n", { mode: 0o755 });
    expect(await run({ argv: ["mine", "$HOME"], env: { PATH: bin } })).toBe("found $HOME\n");
  });

  test("uses another shell, also as a login shell", async () => {
    expect(await run({ command: "echo $0 ${BASH_VERSION:+bash}", shell: "bash" })).toBe("bash bash\n");
    expect(await run({ command: "shopt -q login_shell && echo login", shell: "bash", login: true })).toContain(
      "login\n",
    );
  });

  test.each<[string, StartRequest, string]>([
    ["a missing directory", { command: "true", workdir: "/nonexistent/dir" }, "process/bad-workdir"],
    ["a file as directory", { command: "true", workdir: "/etc/passwd" }, "process/bad-workdir"],
    ["a missing command", { argv: ["/nonexistent/program"] }, "process/command-not-found"],
    ["a command that is not on the PATH", { argv: ["no-such-program-anywhere"] }, "process/command-not-found"],
    ["a file that is not executable", { argv: ["/etc/passwd"] }, "process/not-executable"],
    ["an unknown shell", { command: "true", shell: "no-such-shell" }, "process/unknown-shell"],
    ["an argument over the kernel's limit", { argv: ["echo", "x".repeat(131_072)] }, "process/too-long"],
    [
      "arguments over the kernel's limit together",
      { argv: ["echo", ...Array(60).fill("x".repeat(130_000))] },
      "process/too-long",
    ],
    ["a NUL byte", { command: "echo \0" }, "request/invalid"],
    ["no command", {}, "process/command-required"],
  ])("says what is wrong with %s, and leaves nothing behind", async (_, request, code) => {
    expect(await faultOf(request)).toMatchObject({ code });
    await until("no run directory is left", () => supervisor.dirs.list().length === 0);
    expect(supervisor.list({ all: true }, caller()).records).toEqual([]);
  });

  test("says that a script's interpreter is missing, and runs one without a first line by sh, as execvp does", async () => {
    const script = join(home.path, "script");
    writeFileSync(script, "#!/nonexistent/interpreter\n", { mode: 0o755 });
    const fault = { code: "process/not-executable", message: expect.stringContaining("interpreter") };
    expect(await faultOf({ argv: [script] })).toMatchObject(fault);
    writeFileSync(script, "echo hello\n", { mode: 0o755 });
    expect(await run({ argv: [script] })).toBe("hello\n");
  });

  test("refuses more than max_running", async () => {
    await home.close();
    supervisor = await home.open({ max_running: 2 });
    await supervisor.start({ command: "sleep 30" }, caller());
    await supervisor.start({ command: "sleep 30" }, caller());
    expect(await faultOf({ command: "true" })).toMatchObject({ code: "daemon/overloaded" });
  });

  test("writes rows and events shortly after", async () => {
    const { record } = await supervisor.start({ command: "true" }, caller());
    await record.waitEnd(never);
    await until("events are there", () => supervisor.events.after(0, { process: record.id }, 10).length === 3);
    const types = supervisor.events.after(0, { process: record.id }, 10).map((event) => event.type);
    expect(types).toEqual(["process.started", "process.exited", "process.ended"]);
    expect(home.store.processes.find(record.id)?.facts).toMatchObject({
      state: "exited",
      exit_code: 0,
      usage: expect.anything(),
    });
  });
});

describe("client_token", () => {
  test("gives the same process for the same request, also at once and after a restart", async () => {
    const request = { command: "echo x >>counted; sleep 20", workdir: home.path, client_token: "one" };
    const [a, b] = await Promise.all([
      supervisor.start(request, caller(chat)),
      supervisor.start(request, caller(chat)),
    ]);
    expect(b?.record.id).toBe(a?.record.id);
    expect([a?.attached, b?.attached]).toEqual([false, true]);
    await home.close();
    supervisor = await home.open();
    const again = await supervisor.start(request, caller(chat));
    expect(again).toMatchObject({ attached: true });
    expect(again.record.id).toBe(a?.record.id);
    expect(supervisor.byToken("one", caller(chat))?.id).toBe(a?.record.id);
    expect(supervisor.byToken("one", caller())).toBeUndefined();
  });

  test("refuses another request, and is free in another chat and after a failure", async () => {
    await supervisor.start({ command: "true", client_token: "t" }, caller(chat));
    await expect(supervisor.start({ command: "false", client_token: "t" }, caller(chat))).rejects.toMatchObject({
      code: "process/token-conflict",
    });
    expect((await supervisor.start({ command: "false", client_token: "t" }, caller())).attached).toBe(false);
    expect(await faultOf({ argv: ["/nonexistent/x"], client_token: "u" })).toMatchObject({
      code: "process/command-not-found",
    });
    expect((await supervisor.start({ command: "true", client_token: "u" }, caller())).attached).toBe(false);
  });
});
