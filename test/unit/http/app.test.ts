import { describe, expect, test, vi } from "vitest";
import { type Caller, Fault } from "../../../src/contract/index.ts";
import { createDoor, createListLog, jsonOf, noTokens, onTcp, onUnix, request } from "../../support/http-door.ts";

const id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";

describe("a request", () => {
  test("reaches its operation with path, query and caller in one piece", async () => {
    const seen: unknown[] = [];
    const door = createDoor({
      "process.output": (input, caller) => {
        seen.push(input, caller.chatId);
        return { output: "x", running: false, log_end: 1 };
      },
    });
    const path = `/api/v0/processes/${id}/output?wait=true&id=other`;
    const response = await door.fetch(request("GET", path, { headers: { "coder-chat-id": id } }), onTcp);
    expect(response.status).toBe(200);
    expect(seen).toEqual([{ id, wait: "true" }, id]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
    expect(await response.text()).toBe('{"output":"x","running":false,"log_end":1}\n');
  });

  test("whose body names another id is still about the one in the path", async () => {
    const signal = vi.fn(() => ({ message: "sent", reached: 1 }));
    const door = createDoor({ "process.signal": signal });
    await door.fetch(
      request("POST", `/api/v0/processes/${id}/signal`, { body: '{"signal":"kill","id":"other"}' }),
      onTcp,
    );
    expect(signal).toHaveBeenCalledWith({ id, signal: "kill" }, expect.anything());
  });

  test("is read whatever its Content-Type says", async () => {
    const start = vi.fn(() => ({ id, started: true as const, started_at: "now" }));
    const door = createDoor({ "process.start": start });
    for (const type of ["", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]) {
      const headers = type ? { "content-type": type } : {};
      const made = request("POST", "/api/v0/processes/start", {
        body: new TextEncoder().encode('{"command":"true"}'),
        headers,
      });
      expect((await door.fetch(made, onTcp)).status).toBe(200);
    }
    expect(start).toHaveBeenCalledTimes(4);
  });

  test("to a token with a slash in it arrives decoded", async () => {
    const seen: string[] = [];
    const door = createDoor({
      "process.by-token": ({ token }) => {
        seen.push(token);
        throw new Fault("process/not-found", "no");
      },
    });
    await door.fetch(request("GET", `/api/v0/processes/tokens/${encodeURIComponent("a/b?c%d")}`), onTcp);
    expect(seen).toEqual(["a/b?c%d"]);
  });

  test("on the Unix socket needs neither token nor a known host", async () => {
    const door = createDoor({ "daemon.health": () => ({ ok: true as const, version: "1" }) });
    const made = request("GET", "/healthz", { headers: { authorization: "", host: "drover" } });
    expect((await door.fetch(made, onUnix)).status).toBe(200);
    expect((await door.fetch(made, onTcp)).status).toBe(403);
  });

  test("ends its operation's signal when the client hangs up", async () => {
    const hangUp = new AbortController();
    let seen: AbortSignal | undefined;
    const door = createDoor({
      "process.wait": (_, caller) => {
        seen = caller.signal;
        return new Promise((_resolve, reject) =>
          caller.signal.addEventListener("abort", () => reject(caller.signal.reason)),
        );
      },
    });
    const log = door.fetch(
      request("POST", `/api/v0/processes/${id}/wait`, { body: "{}", signal: hangUp.signal }),
      onTcp,
    );
    await vi.waitFor(() => expect(seen).toBeDefined());
    hangUp.abort();
    expect((await log).status).toBe(499);
    expect(seen?.aborted).toBe(true);
  });
});

describe("a fault", () => {
  test("becomes its status and body", async () => {
    const door = createDoor({
      "process.get": () => {
        throw new Fault("process/not-found", `Process "${id}" not found.`, { detail: "d", data: { a: 1 } });
      },
    });
    const response = await door.fetch(request("GET", `/api/v0/processes/${id}`), onTcp);
    expect(response.status).toBe(404);
    expect(await jsonOf(response)).toEqual({
      message: `Process "${id}" not found.`,
      code: "process/not-found",
      detail: "d",
      data: { a: 1 },
    });
  });

  test("that is none is shown as a bug, with its stack in the log only", async () => {
    const log = createListLog();
    const broken = () => {
      throw new Error("secret inside");
    };
    const door = createDoor({ "daemon.status": broken }, { log });
    const response = await door.fetch(request("GET", "/api/v0/status"), onTcp);
    const body = await response.text();
    expect(response.status).toBe(500);
    expect(body).not.toContain("secret inside");
    const { reference } = (JSON.parse(body) as { data: { reference: string } }).data;
    const line = log.lines.find((l) => l.level === "error");
    expect(line?.fields).toMatchObject({ reference });
    expect(line?.fields["error"]).toMatchObject({ message: "secret inside" });
  });

  test.each<[string, string, string | null]>([
    ["GET", "/api/v0/nothing", null],
    ["POST", "/", "GET"],
    ["PUT", `/api/v0/processes/${id}`, "GET, DELETE"],
    ["GET", "/api/v0/processes/start/", null],
    ["DELETE", "/healthz", "GET"],
  ])("%s %s: allowed is %s", async (method, path, allow) => {
    const response = await createDoor({}).fetch(request(method, path), onTcp);
    expect(response.status).toBe(allow === null ? 404 : 405);
    expect(response.headers.get("allow")).toBe(allow);
    expect((await jsonOf(response))["code"]).toBe(allow === null ? "route/not-found" : "route/wrong-method");
  });

  test("without a token an unknown path tells nothing", async () => {
    const response = await createDoor({}).fetch(request("GET", "/nothing", { headers: { authorization: "" } }), onTcp);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("of a stream that is known at once is a status, later an event", async () => {
    const missing = () => {
      throw new Fault("process/not-found", "gone");
    };
    // oxlint-disable-next-line require-yield
    async function* missingLater(): AsyncGenerator<never> {
      missing();
    }
    async function* breaks() {
      yield { event: "output", id: "1", data: { from: 0, to: 1 } };
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Fault("process/unreachable", "broke");
    }
    for (const stream of [missing as never, missingLater]) {
      const response = await createDoor({ "process.stream": stream }).fetch(
        request("GET", `/api/v0/processes/${id}/stream`),
        onTcp,
      );
      expect(response.status).toBe(404);
    }
    const response = await createDoor({ "process.stream": breaks }).fetch(
      request("GET", `/api/v0/processes/${id}/stream`),
      onTcp,
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await response.text()).toBe(
      'event: output\nid: 1\ndata: {"from":0,"to":1}\n\nevent: error\ndata: {"message":"broke","code":"process/unreachable"}\n\n',
    );
  });
});

test("a log is sent as bytes to those who accept them", async () => {
  const data = new Uint8Array([0, 255, 10]);
  const door = createDoor({ "process.log.bytes": () => ({ from: 1, to: 4, end: 9, next: 4, data }) });
  const headers = { accept: "application/octet-stream" };
  const response = await door.fetch(request("GET", `/api/v0/processes/${id}/log`, { headers }), onTcp);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "drover-log-from": "1",
    "drover-log-to": "4",
    "drover-log-end": "9",
    "drover-log-next": "4",
  });
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(data);
});

test("an allowed foreign page gets CORS headers, also on its preflight and on faults", async () => {
  const auth = { token: "t", tokens: noTokens, allowedHosts: [], allowedOrigins: ["https://app.example"] };
  const door = createDoor({}, { auth });
  const origin = "https://app.example";
  const preflight = request("OPTIONS", "/api/v0/processes/start", {
    headers: { origin, authorization: "", "access-control-request-method": "POST" },
  });
  const allowed = await door.fetch(preflight, onTcp);
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get("access-control-allow-origin")).toBe(origin);
  const wrong = await door.fetch(request("GET", "/", { headers: { origin } }), onTcp);
  expect(wrong.status).toBe(401);
  expect(wrong.headers.get("access-control-allow-origin")).toBe(origin);
  const foreign = await door.fetch(
    request("OPTIONS", "/", { headers: { origin: "https://evil.example", "access-control-request-method": "POST" } }),
    onTcp,
  );
  expect(foreign.status).toBe(403);
  expect(foreign.headers.has("access-control-allow-origin")).toBe(false);
});

test("one line a request says who asked for what, without the path's secrets", async () => {
  const log = createListLog();
  const door = createDoor(
    {
      "process.get": () => {
        throw new Fault("process/not-found", "no");
      },
      "process.by-token": () => {
        throw new Fault("process/not-found", "no");
      },
      "daemon.health": () => ({ ok: true as const, version: "1" }),
    },
    { log },
  );
  const headers = { "coder-chat-id": id, "coder-ancestor-chat-ids": `["${id}"]`, "x-request-id": "r1" };
  await door.fetch(request("GET", `/api/v0/processes/${id}`, { headers }), onTcp);
  await door.fetch(request("GET", "/healthz"), onTcp);
  await door.fetch(request("GET", "/api/v0/processes/tokens/hush"), onTcp);
  await new Promise(setImmediate);
  expect(log.lines.map((l) => l.level)).toEqual(["info", "debug", "info"]);
  expect(log.lines[0]?.fields).toMatchObject({
    request_id: "r1",
    chat_id: id,
    ancestor_chat_ids: [id],
    process_id: id,
    status: 404,
    operation: "process.get",
  });
  expect(JSON.stringify(log.lines)).not.toContain("hush");
});

test("the greeting is JSON", async () => {
  const response = await createDoor({}).fetch(request("GET", "/"), onTcp);
  expect(await jsonOf(response)).toEqual({ message: "Drover 0.0.0-test" });
});

test("HEAD of a stream ends at once", async () => {
  let ended = false;
  async function* endless(_: unknown, caller: Caller) {
    try {
      yield { event: "output", data: { from: 0, to: 1 } };
      await new Promise((resolve) => caller.signal.addEventListener("abort", resolve));
    } finally {
      ended = true;
    }
  }
  const door = createDoor({ "process.stream": endless });
  const response = await door.fetch(request("HEAD", `/api/v0/processes/${id}/stream`), onTcp);
  expect(response.body).toBeNull();
  await vi.waitFor(() => expect(ended).toBe(true));
});
