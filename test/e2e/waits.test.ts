import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { program, RealDaemon } from "../support/real-daemon.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

const wait = async (id: string, body: object) => (await daemon.process("POST", `${id}/wait`, body)).body;
const stop = (id: string) => daemon.process("POST", `${id}/stop`, { signals: [{ signal: "KILL" }] });

describe("one wait instead of polling (pain P4)", () => {
  test("pain P16: start returns when the port is open", async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const start = await daemon.process("POST", "start", {
      argv: [program("listens"), String(port), "300"],
      wait: { for: { port }, timeout_ms: 20_000 },
    });
    expect(start.body.wait).toMatchObject({ fired: "port", running: true });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
    expect(await wait(start.body.id, { for: { http: `http://127.0.0.1:${port}/` } })).toMatchObject({ fired: "http" });
    const { body: info } = await daemon.process("GET", start.body.id);
    expect(info.ports).toMatchObject([{ port }]);
    const second = await daemon.process("POST", "start", {
      command: "sleep 60",
      wait: { for: { port }, timeout_ms: 300 },
    });
    expect(second.body.wait).toMatchObject({ fired: "timeout", running: true });
    expect(second.body.wait.port_held_by).toContain("listens");
    await Promise.all([start.body.id, second.body.id].map(stop));
  });

  test("a match is found at its exact bytes, also across writes", async () => {
    const id = await daemon.started({ command: "printf 'é list'; sleep 0.3; printf 'ening on 42\\n'; sleep 60" });
    const fired = await wait(id, { for: { match: "listening on (\\d+)" }, cursor: 0, timeout_ms: 10_000 });
    expect(fired).toMatchObject({ fired: "match", match: { text: "listening on 42", from: 3, to: 18 }, running: true });
    await stop(id);
  });

  test("bytes, silence and the end fire by themselves", async () => {
    const id = await daemon.started({ argv: [program("prints-lines"), "20", "30"] });
    expect(await wait(id, { for: { bytes: 20 }, cursor: 0 })).toMatchObject({ fired: "bytes" });
    expect(await wait(id, { for: { match: "never" }, cursor: 0 })).toMatchObject({ fired: "exit", exit_code: 0 });
    const quiet = await daemon.started({ command: "echo a; sleep 60" });
    expect(await wait(quiet, { for: { idle_ms: 300 }, cursor: 0 })).toMatchObject({ fired: "idle", output: "a\n" });
    expect(await wait(quiet, { timeout_ms: 50 })).toMatchObject({ fired: "timeout", running: true });
    await stop(quiet);
  });

  test("a regular expression that takes for ever is ended, and the daemon answers others meanwhile", async () => {
    const id = await daemon.started({ command: `printf '%s!\\n' ${"a".repeat(40)}; sleep 60` });
    const slow = daemon.process("POST", `${id}/wait`, { for: { match: "^(a+)+$" }, cursor: 0, timeout_ms: 20_000 });
    expect((await daemon.call("GET", "/healthz")).status).toBe(200);
    expect((await slow).body.code).toBe("regex/too-slow");
    expect((await daemon.process("POST", `${id}/wait`, { for: { match: "(" } })).body.code).toBe("regex/invalid");
    await stop(id);
  });

  test("200 waiters on one process are all answered", async () => {
    const id = await daemon.started({ command: "sleep 1; echo go; sleep 0.3; exit 4" });
    const waiters = Array.from({ length: 200 }, (_, i) =>
      wait(id, i % 2 ? { for: { match: "go" }, cursor: 0 } : { for: { exit: true } }),
    );
    const answers = await Promise.all(waiters);
    expect(answers.filter((a) => a.fired === "match")).toHaveLength(100);
    expect(answers.filter((a) => a.fired === "exit" && a.exit_code === 4)).toHaveLength(100);
  });
});

describe("three clocks (pain P10)", () => {
  test("a wait that is over leaves the process running", async () => {
    const start = await daemon.process("POST", "start", { command: "sleep 60", wait: { timeout_ms: 50 } });
    expect(start.body.wait).toMatchObject({ fired: "timeout", running: true });
    await stop(start.body.id);
  });

  test("a lifetime and a silence end the tree and say so", async () => {
    const lifetime = await daemon.process("POST", "start", {
      command: "while :; do echo x; sleep 0.05; done",
      timeout_ms: 400,
      wait: {},
    });
    expect(lifetime.body.wait).toMatchObject({ fired: "exit", exit_code: -1, reason: "timeout" });
    const silence = await daemon.process("POST", "start", {
      command: "echo x; sleep 60",
      idle_timeout_ms: 300,
      wait: {},
    });
    expect(silence.body.wait).toMatchObject({ fired: "exit", exit_code: -1, reason: "idle_timeout" });
  });
});

describe("what it is doing, from kernel facts", () => {
  test.each([
    ["reads-line", ["name? ", "read"], "waiting_line"],
    ["reads-line", ["name? ", "poll"], "waiting_line"],
    ["reads-line", ["name? ", "epoll"], "waiting_line"],
    ["reads-secret", [], "waiting_secret"],
    ["reads-keys", [], "waiting_keys"],
  ])("pain P8: %s %j is seen as %s", async (name, args, activity) => {
    const id = await daemon.started({ argv: [program(name), ...args], tty: true });
    expect(await wait(id, { for: { activity }, timeout_ms: 15_000 })).toMatchObject({ fired: "activity", activity });
    await stop(id);
  });

  test("pain P9: a sleeping process with an open stdin does not wait for input", async () => {
    const id = await daemon.started({ argv: [program("reads-line"), "Continue? [y/n] ", "sleep"], tty: true });
    await wait(id, { for: { match: "Continue" }, cursor: 0 });
    expect((await daemon.process("GET", id)).body.activity).toBe("sleeping");
    await stop(id);
  });
});

describe("limits", () => {
  test("pain P18: memory over the limit ends the command with its cause", async () => {
    const start = await daemon.process("POST", "start", {
      argv: [program("eats-memory"), "200", "30", "2"],
      limits: { memory_bytes: 64 << 20 },
      wait: { timeout_ms: 30_000 },
    });
    expect(start.body.wait).toMatchObject({ fired: "exit", exit_code: -1 });
    expect(["limit", "oom"]).toContain(start.body.wait.reason);
    const { body: info } = await daemon.process("GET", start.body.id);
    expect(["cgroup", "watched"]).toContain(info.limits_enforced.memory_bytes);
  });
});
