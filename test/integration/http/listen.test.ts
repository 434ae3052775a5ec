import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createClient, Fault } from "../../../src/sdk/index.ts";
import { createDoor, createListLog, TOKEN } from "../../support/http-door.ts";
import { makeDirectory, openDoor } from "../../support/http-listener.ts";

const tcp = { host: "127.0.0.1", port: 0 };
const health = { "daemon.health": () => ({ ok: true as const, version: "1" }) };
const id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";

test("answers on TCP and on a Unix socket that only its owner may open", async () => {
  const { overTcp, overUnix, socketPath, listening } = await openDoor(health);
  expect(await overTcp.health()).toEqual({ ok: true, version: "1" });
  expect(await overUnix.health()).toEqual({ ok: true, version: "1" });
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  await listening.close();
  expect(existsSync(socketPath)).toBe(false);
});

test("leaves the umask as it was", async () => {
  const before = process.umask();
  await openDoor(health);
  expect(process.umask()).toBe(before);
});

test("reaches a socket whose path is too long for the kernel, and removes it at the end", async () => {
  const home = join(makeDirectory(), "d".repeat(120));
  mkdirSync(home);
  const socketPath = join(home, "drover.sock");
  const listening = await createDoor(health).listen({ tcp, socketPath });
  const client = createClient({ socket: socketPath });
  expect(await client.health()).toEqual({ ok: true, version: "1" });
  client.close();
  await listening.close();
  expect(readdirSync(home)).toEqual([]);
});

test("replaces the socket of a killed daemon", async () => {
  const socketPath = join(makeDirectory(), "drover.sock");
  const script = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", script, socketPath]);
  expect(existsSync(socketPath)).toBe(true);
  const listening = await createDoor(health).listen({ tcp, socketPath });
  expect(await createClient({ socket: socketPath }).health()).toMatchObject({ ok: true });
  await listening.close();
});

test("leaves alone a socket that answers, and a file that is none", async () => {
  const directory = makeDirectory();
  const socketPath = join(directory, "drover.sock");
  const other = createServer().listen(socketPath);
  onTestFinished(() => void other.close());
  await expect(createDoor(health).listen({ tcp, socketPath })).rejects.toMatchObject({
    code: "daemon/already-running",
  });
  expect(existsSync(socketPath)).toBe(true);
  const file = join(directory, "file");
  writeFileSync(file, "mine");
  await expect(createDoor(health).listen({ tcp, socketPath: file })).rejects.toMatchObject({
    code: "daemon/home-unusable",
  });
});

test("says which port is taken", async () => {
  const { listening } = await openDoor(health);
  const again = createDoor(health).listen({
    tcp: { ...tcp, port: listening.port },
    socketPath: join(makeDirectory(), "s"),
  });
  await expect(again).rejects.toMatchObject({ code: "daemon/port-taken" });
});

test("refuses a request without a token, of a foreign host, of a foreign page", async () => {
  const { listening } = await openDoor(health);
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      httpRequest(`${listening.url}/api/v0/status`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
  const authorization = `Bearer ${TOKEN}`;
  expect(await status({})).toBe(401);
  expect(await status({ authorization: "Bearer no" })).toBe(401);
  expect(await status({ authorization, host: "evil.example" })).toBe(403);
  expect(await status({ authorization, host: "a b" })).toBe(400);
  expect(await status({ authorization, origin: "https://evil.example" })).toBe(403);
});

test("refuses a body over the bound though its length was not announced", async () => {
  const { socketPath } = await openDoor({ "process.start": () => ({ id, started: true as const, started_at: "" }) });
  const socket = connect(socketPath);
  socket.on("error", () => undefined);
  socket.write("POST /api/v0/processes/start HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
  let answer = "";
  socket.on("data", (data) => (answer += data.toString()));
  for (let i = 0; i < 80; i++) socket.write(chunk);
  await vi.waitFor(() => expect(answer).toContain("413"));
  await vi.waitFor(() => expect(socket.destroyed || socket.readableEnded).toBe(true), { timeout: 5000 });
});

test("ends the operation's signal when the client hangs up", async () => {
  const signals: AbortSignal[] = [];
  const { overUnix } = await openDoor({
    "process.output": (_, caller) => {
      signals.push(caller.signal);
      return new Promise(() => undefined);
    },
  });
  const hangUp = new AbortController();
  const answer = overUnix.processes.output(id, { wait: "true" }, { signal: hangUp.signal });
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  hangUp.abort(new Error("enough"));
  await expect(answer).rejects.toThrow("enough");
  await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true));
});

test("tells everybody why when it closes: waits, streams and attachments", async () => {
  const aborted: string[] = [];
  const until = (name: string, signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => {
        aborted.push(name);
        reject(signal.reason);
      });
    });
  const log = createListLog();
  const { overTcp, overUnix, listening } = await openDoor(
    {
      "process.wait": (_, caller) => until("wait", caller.signal),
      "events.stream": async function* (_, caller) {
        yield { event: "process.started", id: "1", data: { seq: 1, type: "process.started" } };
        await until("events", caller.signal);
      },
      "process.attach": async (_, caller) => ({
        output: (async function* () {
          yield new Uint8Array([1]);
          await until("attach", caller.signal);
        })(),
        readonly: false,
        write: async () => {},
        resize: async () => {},
        close: () => {},
      }),
    },
    { log },
  );
  const waiting = overTcp.processes.wait(id, {}).catch((error: unknown) => error);
  const stop = new AbortController();
  const events = overUnix.events({ signal: stop.signal });
  expect((await events.next()).value).toMatchObject({ seq: 1 });
  const attached = await overUnix.processes.attach(id);
  const output = attached.output[Symbol.asyncIterator]();
  await output.next();
  const rest = output.next().catch((error: unknown) => error);
  const started = performance.now();
  await listening.close();
  expect(performance.now() - started).toBeLessThan(5000);
  expect(await waiting).toMatchObject({ code: "daemon/shutting-down" });
  expect(await rest).toBeInstanceOf(Fault);
  expect(await rest).toMatchObject({ code: "daemon/shutting-down" });
  expect(aborted.sort()).toEqual(["attach", "events", "wait"]);
  stop.abort();
  expect((await events.next()).done).toBe(true);
  expect(log.lines.filter((line) => line.level === "error")).toEqual([]);
});
