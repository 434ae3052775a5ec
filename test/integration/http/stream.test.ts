import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Caller, Fault } from "../../../src/contract/index.ts";
import { Metrics } from "../../../src/operations/metrics.ts";
import type { SseMessage } from "../../../src/operations/table.ts";
import { createClient, type Followed } from "../../../src/sdk/index.ts";
import { noTokens, TOKEN } from "../../support/http-door.ts";
import { openDoor } from "../../support/http-listener.ts";

const id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
const log = Buffer.from(Array.from({ length: 50_000 }, (_, i) => `line ${i} €\n`).join(""));

/** The whole log in pieces of odd sizes, from wherever the reader wants to go on. */
async function* streamLog({ from = 0 }: { from?: number | undefined }): AsyncGenerator<SseMessage> {
  for (let at = from; at < log.length; ) {
    const to = Math.min(at + 7919, log.length);
    yield {
      event: "output",
      id: String(to),
      data: { from: at, to, data: log.subarray(at, to).toString("base64"), encoding: "base64" },
    };
    at = to;
  }
  yield { event: "exit", data: { exit_code: 0, exited_at: "now", log_end: log.length, leftover_count: 0 } };
  yield { event: "end", data: {} };
}

/** A TCP relay that cuts every connection after some bytes, at no particular border. */
async function startCuttingRelay(target: number, bytes: () => number): Promise<{ url: string; cuts(): number }> {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let left = bytes();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    client.pipe(upstream);
    upstream.on("data", (data) => {
      client.write(data.subarray(0, left));
      left -= data.length;
      if (left > 0) return;
      cuts++;
      client.destroySoon();
      upstream.destroy();
    });
    upstream.on("end", () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, cuts: () => cuts };
}

test("following goes on over broken connections: no byte is lost or doubled", async () => {
  const auth = { token: TOKEN, tokens: noTokens, allowedHosts: ["127.0.0.1"], allowedOrigins: [] };
  const { listening } = await openDoor({ "process.stream": streamLog }, { auth });
  const relay = await startCuttingRelay(listening.port, () => 40_000 + Math.floor(Math.random() * 100_000));
  const client = createClient({ url: relay.url, token: TOKEN });
  onTestFinished(() => client.close());
  const parts: Uint8Array[] = [];
  const ends: Followed[] = [];
  let position = 0;
  for await (const item of client.processes.follow(id)) {
    if (item.type !== "output") ends.push(item);
    else {
      expect(item.from).toBe(position);
      expect(item.data.length).toBe(item.to - item.from);
      position = item.to;
      parts.push(item.data);
    }
  }
  expect(Buffer.concat(parts).equals(log)).toBe(true);
  expect(ends).toMatchObject([{ type: "exit", exit_code: 0 }]);
  expect(relay.cuts()).toBeGreaterThan(3);
});

test("following survives a daemon that restarts, and takes the middle of a piece that comes again", async () => {
  let calls = 0;
  const stream = async function* ({ from = 0 }: { from?: number | undefined }): AsyncGenerator<SseMessage> {
    calls++;
    if (calls === 1) {
      yield { event: "output", id: "3", data: { from: 0, to: 3, data: "abc", encoding: "utf-8" } };
      yield { event: "exit", data: { exit_code: 3, exited_at: "", log_end: 6, leftover_count: 1 } };
      throw new Fault("daemon/shutting-down", "bye");
    }
    expect(from).toBe(3);
    yield { event: "output", id: "6", data: { from: 1, to: 6, data: "bcdef", encoding: "utf-8" } };
    yield { event: "dropped", data: { from: 6, to: 9 } };
    yield { event: "exit", data: { exit_code: 3, exited_at: "", log_end: 9, leftover_count: 0 } };
    yield { event: "end", data: {} };
  };
  const { overUnix } = await openDoor({ "process.stream": stream });
  const items: unknown[] = [];
  for await (const item of overUnix.processes.follow(id)) {
    items.push(item.type === "output" ? `${item.from}:${Buffer.from(item.data).toString()}` : item.type);
  }
  expect(items).toEqual(["0:abc", "exit", "3:def", "dropped"]);
});

test("following gives up on a fault that time does not repair", async () => {
  let calls = 0;
  const { overUnix } = await openDoor({
    "process.stream": async function* () {
      calls++;
      if (calls > 1) throw new Fault("process/not-found", "removed");
      yield { event: "output", id: "1", data: { from: 0, to: 1, data: "a", encoding: "utf-8" } };
    },
  });
  const follow = overUnix.processes.follow(id);
  await follow.next();
  await expect(follow.next()).rejects.toMatchObject({ code: "process/not-found" });
});

test("following a daemon that was never there fails at once", async () => {
  const follow = createClient({ socket: "/nowhere/drover.sock" }).processes.follow(id);
  await expect(follow.next()).rejects.toMatchObject({ code: "client/unreachable" });
});

test("events go on after the last number, and gaps are told", async () => {
  const asked: (number | undefined)[] = [];
  const { overUnix } = await openDoor({
    "events.stream": async function* ({ after }) {
      asked.push(after);
      if (asked.length === 1) yield { event: "hello", id: "4", data: {} };
      if (asked.length === 2) {
        yield { event: "process.started", id: "5", data: { seq: 5, type: "process.started" } };
        yield { event: "process.started", id: "5", data: { seq: 5, type: "process.started" } };
      }
      if (asked.length === 3) {
        yield { event: "gap", data: { from: 6, to: 8 } };
        yield { event: "process.exited", id: "9", data: { seq: 9, type: "process.exited" } };
      }
    },
  });
  const seen: unknown[] = [];
  for await (const event of overUnix.events({ type: ["process.started", "process.exited"] })) {
    seen.push(event);
    if (event.type === "process.exited") break;
  }
  expect(seen).toEqual([
    { seq: 5, type: "process.started" },
    { type: "gap", from: 6, to: 8 },
    { seq: 9, type: "process.exited" },
  ]);
  expect(asked).toEqual([undefined, 4, 5]);
});

test("a reader that stops reading costs a bounded buffer and ends with its connection", async () => {
  let made = 0;
  let ended = false;
  const data = "x".repeat(48 << 10);
  const metrics = new Metrics();
  const { listening } = await openDoor(
    {
      "process.stream": async function* (_: object, caller: Caller) {
        try {
          while (!caller.signal.aborted) {
            yield {
              event: "output",
              id: String(made),
              data: { from: made, to: made + data.length, data, encoding: "utf-8" },
            };
            made += data.length;
          }
        } finally {
          ended = true;
        }
      },
    },
    { metrics },
  );
  const socket = connect(listening.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(
    `GET /api/v0/processes/${id}/stream HTTP/1.1\r\nHost: 127.0.0.1:${listening.port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  );
  const settled = await quiet(() => made);
  // What the kernel takes on both sides of a loopback connection is some megabytes; without back-pressure this grows for ever.
  expect(settled).toBeLessThan(16 << 20);
  const before = process.memoryUsage().rss;
  await quiet(() => made);
  expect(process.memoryUsage().rss - before).toBeLessThan(16 << 20);
  expect(metrics.format([])).toContain("drover_sse_clients 1");
  socket.destroy();
  await vi.waitFor(() => expect(ended).toBe(true));
  expect(metrics.format([])).toContain("drover_sse_clients 0");
});

/** The value once it has not changed for a while. */
async function quiet(read: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = read();
    if (now > 0 && now === last) return now;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}
