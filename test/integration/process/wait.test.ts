import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StartRequest, WaitAnswer, WaitRequest } from "../../../src/contract/index.ts";
import { type ProcessRecord, type Supervisor, waitFor } from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { program } from "../../support/real-daemon.ts";

const never = new AbortController().signal;
let home: TestHome;
let supervisor: Supervisor;

beforeEach(async () => {
  home = new TestHome();
  supervisor = await home.open();
});
afterEach(() => home[Symbol.asyncDispose]());

async function started(request: StartRequest): Promise<ProcessRecord> {
  return (await supervisor.start(request, caller())).record;
}
const wait = (record: ProcessRecord, request: WaitRequest): Promise<WaitAnswer> =>
  waitFor(supervisor, record, request, { fromStart: false, signal: new AbortController().signal });
const freePort = () => 20_000 + Math.floor(Math.random() * 20_000);

describe("exit", () => {
  test("is the default, and comes with all output since the cursor", async () => {
    const record = await started({ command: "echo a; exit 3" });
    expect(await waitFor(supervisor, record, {}, { fromStart: true, signal: never })).toEqual({
      fired: "exit",
      running: false,
      exit_code: 3,
      cursor: 2,
      output: "a\n",
    });
    expect(await wait(record, { cursor: 1 })).toMatchObject({ fired: "exit", output: "\n" });
    expect(await wait(record, {})).toMatchObject({ fired: "exit", output: "", cursor: 2 });
    expect(await wait(record, { cursor: 99 })).toMatchObject({ output: "", cursor: 2 });
  });

  test("names the signal", async () => {
    const record = await started({ command: "kill -9 $$" });
    expect(await wait(record, {})).toMatchObject({ fired: "exit", exit_code: -1, signal: "SIGKILL" });
  });

  test("fires when something else was waited for", async () => {
    const record = await started({ command: "sleep 0.2; exit 5" });
    const asked = {
      match: "never",
      port: freePort(),
      http: `http://127.0.0.1:${freePort()}/`,
      activity: "stopped",
      bytes: 9,
    } as const;
    expect(await wait(record, { for: asked, cursor: 0 })).toMatchObject({ fired: "exit", exit_code: 5 });
  });

  test("a wait that is over leaves the process alone", async () => {
    const record = await started({ command: "sleep 60" });
    expect(await wait(record, { timeout_ms: 50 })).toEqual({ fired: "timeout", running: true, cursor: 0, output: "" });
    const gone = AbortSignal.timeout(50);
    await expect(waitFor(supervisor, record, {}, { fromStart: true, signal: gone })).rejects.toThrow();
    await expect(
      waitFor(supervisor, record, { for: { match: "x" } }, { fromStart: true, signal: gone }),
    ).rejects.toThrow();
    expect(record.running).toBe(true);
  });
});

describe("match", () => {
  test("is found at its exact bytes, also across writes", async () => {
    const record = await started({ command: "printf 'é list'; sleep 0.3; printf 'ening on 42\\n'; sleep 60" });
    expect(await wait(record, { for: { match: "listening on (\\d+)" }, cursor: 0 })).toMatchObject({
      fired: "match",
      running: true,
      match: { text: "listening on 42", from: 3, to: 18 },
      output: "é listening on 42\n",
    });
  });

  test("sees through escape sequences and broken bytes", async () => {
    const record = await started({ command: "printf '\\377\\033[1mrea\\033[0mdy\\n'; sleep 60" });
    const { match } = await wait(record, { for: { match: "^.ready$" }, cursor: 0 });
    expect(match).toEqual({ text: "\ufffdready", from: 0, to: 14 });
    expect((await wait(record, { for: { match: "dy" }, cursor: 0 })).match).toEqual({ text: "dy", from: 12, to: 14 });
  });

  test("looks from the cursor on, and knows what is before it", async () => {
    const record = await started({ command: "printf 'go no\\ngo\\n'; sleep 60" });
    await wait(record, { for: { bytes: 9 }, cursor: 0 });
    expect((await wait(record, { for: { match: "go" }, cursor: 1 })).match).toEqual({ text: "go", from: 6, to: 8 });
    expect(await wait(record, { for: { match: "^no" }, cursor: 3, timeout_ms: 100 })).toMatchObject({
      fired: "timeout",
    });
  });

  test("in the last line wins over the exit", async () => {
    const record = await started({ command: "sleep 0.1; echo done" });
    expect(await wait(record, { for: { match: "done", exit: true }, cursor: 0 })).toMatchObject({ fired: "match" });
    await record.waitEnd(never);
    expect(await wait(record, { for: { match: "done" }, cursor: 0 })).toMatchObject({ fired: "match", running: false });
  });

  test("is found in a flood", async () => {
    const record = await started({ command: `${program("prints-bytes")} 5000000; echo READY; sleep 60` });
    const answer = await wait(record, { for: { match: "READY" }, cursor: 0 });
    expect(answer).toMatchObject({ fired: "match", match: { from: 5_000_000, to: 5_000_005 } });
    expect(answer.output.endsWith("READY\n")).toBe(true);
    expect(answer.omitted).toHaveLength(1);
  });

  test("of an expression that takes for ever is refused", async () => {
    const record = await started({ command: `printf '%s!\\n' ${"a".repeat(40)}; sleep 60` });
    await expect(wait(record, { for: { match: "^(a+)+$" }, cursor: 0 })).rejects.toMatchObject({
      code: "regex/too-slow",
    });
    await expect(wait(record, { for: { match: "(" } })).rejects.toMatchObject({ code: "regex/invalid" });
  });
});

describe("bytes, silence, activity", () => {
  test("fire by themselves", async () => {
    const record = await started({ argv: [program("prints-lines"), "20", "30"] });
    expect(await wait(record, { for: { bytes: 20 }, cursor: 0 })).toMatchObject({ fired: "bytes" });
    const quiet = await started({ command: "echo a; sleep 60" });
    const begin = performance.now();
    expect(await wait(quiet, { for: { idle_ms: 300 }, cursor: 0 })).toMatchObject({ fired: "idle", output: "a\n" });
    expect(performance.now() - begin).toBeGreaterThan(290);
  });

  test("silence begins anew with every byte", async () => {
    const record = await started({ argv: [program("prints-lines"), "6", "150"] });
    expect(await wait(record, { for: { idle_ms: 600 }, cursor: 0 })).toMatchObject({ fired: "exit" });
  });

  test("pain P8: waiting for a line is seen by kernel facts", async () => {
    const record = await started({ argv: [program("reads-line"), "name? ", "read"], tty: true });
    expect(await wait(record, { for: { activity: "waiting_line" } })).toMatchObject({
      fired: "activity",
      activity: "waiting_line",
    });
  });
});

describe("ports", () => {
  test("pain P16: a port of a descendant fires; one of somebody else is named", async () => {
    const port = freePort();
    const record = await started({ command: `${program("listens")} ${port} 300; true` });
    expect(await wait(record, { for: { port } })).toMatchObject({ fired: "port", running: true });
    expect(await wait(record, { for: { http: `http://localhost:${port}/x` } })).toMatchObject({ fired: "http" });
    const other = await started({ command: "sleep 60" });
    const answer = await wait(other, { for: { port }, timeout_ms: 100 });
    expect(answer).toMatchObject({ fired: "timeout", running: true });
    expect(answer.port_held_by).toMatch(/^pid \d+ .*listens/);
    expect(await wait(other, { for: { port: freePort() }, timeout_ms: 50 })).not.toHaveProperty("port_held_by");
    expect(await wait(record, { for: { port }, timeout_ms: 0 })).toMatchObject({ fired: "port" });
  });

  test("http fires below 500, and only loopback is asked", async () => {
    let status = 503;
    const server = createServer((_request, response) => response.writeHead(status).end());
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const record = await started({ command: "sleep 60" });
    const http = `http://127.0.0.1:${port}/`;
    expect(await wait(record, { for: { http }, timeout_ms: 200 })).toMatchObject({ fired: "timeout" });
    status = 404;
    expect(await wait(record, { for: { http }, timeout_ms: 0 })).toMatchObject({ fired: "http" });
    server.close();
    for (const address of [
      "http://example.com/",
      "https://127.0.0.1/",
      "file:///etc/passwd",
      "http://169.254.169.254/",
      "x",
    ]) {
      await expect(wait(record, { for: { http: address } }), address).rejects.toMatchObject({
        code: "request/invalid",
      });
    }
  });
});

describe("many", () => {
  test("200 waiters on one process are all answered, over few connections", async () => {
    const record = await started({ command: "sleep 0.5; echo go; sleep 0.3; exit 4" });
    const asked = [{ match: "go" }, { exit: true }, { port: freePort() }, { bytes: 2 }] as const;
    const waits = Array.from({ length: 200 }, (_, i) => wait(record, { for: asked[i % 4] ?? {}, cursor: 0 }));
    const answers = await Promise.all(waits);
    for (const fired of ["match", "bytes"]) expect(answers.filter((a) => a.fired === fired)).toHaveLength(50);
    expect(answers.filter((a) => a.fired === "exit" && a.exit_code === 4)).toHaveLength(100);
    expect(supervisor.counts.connections).toBeLessThanOrEqual(1);
  });
});

describe("without a shim", () => {
  test("output is still followed and the loss is told at once", async () => {
    const record = await started({ command: "echo a; sleep 60" });
    await wait(record, { for: { match: "a" }, cursor: 0 });
    const waiting = wait(record, { for: { match: "never" }, timeout_ms: 20_000, cursor: 0 });
    const changed = new Promise<void>((done) => record.onChange(done));
    process.kill(record.facts.shim_pid ?? 0, "SIGKILL");
    await changed;
    expect(record.facts).toMatchObject({ state: "lost", supervised: false });
    await supervisor.stop(record);
    expect(await waiting).toMatchObject({ fired: "exit", exit_code: -1, reason: "lost" });
  });
});
