import { describe, expect, test, vi } from "vitest";
import { createDoor, jsonOf, onTcp, request } from "../../support/http-door.ts";

const id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";

describe("a body", () => {
  const big = "x".repeat(4 << 20);

  test("over the bound is refused, with or without an announced length", async () => {
    const door = createDoor({ "process.start": () => ({ id, started: true as const, started_at: "" }) });
    const body = JSON.stringify({ command: big });
    const announced = request("POST", "/api/v0/processes/start", {
      body,
      headers: { "content-length": String(body.length) },
    });
    expect((await door.fetch(announced, onTcp)).status).toBe(413);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 64 << 10;
        controller.enqueue(new Uint8Array(64 << 10).fill(32));
      },
    });
    const response = await door.fetch(request("POST", "/api/v0/processes/start", { body: endless }), onTcp);
    expect(response.status).toBe(413);
    expect((await jsonOf(response))["code"]).toBe("request/too-large");
    expect(pulled).toBeLessThan((4 << 20) + (512 << 10));
  });

  test("of text in several bytes a character survives any split", async () => {
    const start = vi.fn(() => ({ id, started: true as const, started_at: "" }));
    const bytes = new TextEncoder().encode('{"command":"echo €😀"}');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    await createDoor({ "process.start": start }).fetch(request("POST", "/api/v0/processes/start", { body }), onTcp);
    expect(start).toHaveBeenCalledWith({ command: "echo €😀" }, expect.anything());
  });
});

describe("a query", () => {
  const list = vi.fn(() => ({ processes: [] }));
  const door = createDoor({ "process.list": list });

  test("is checked and converted", async () => {
    await door.fetch(request("GET", "/api/v0/processes/list?limit=5&all=true&limit=7&unknown=1&label="), onTcp);
    expect(list).toHaveBeenLastCalledWith({ limit: 5, all: true }, expect.anything());
  });

  test("out of bounds is refused by field", async () => {
    const response = await door.fetch(request("GET", "/api/v0/processes/list?limit=0"), onTcp);
    expect(response.status).toBe(400);
    expect(await jsonOf(response)).toMatchObject({ code: "request/invalid", validations: [{ field: "limit" }] });
  });

  test("that is strict may hold known names only", async () => {
    const headers = { "drover-strict": "1" };
    const response = await door.fetch(request("GET", "/api/v0/processes/list?lable=x", { headers }), onTcp);
    const body = await jsonOf(response);
    expect(body["code"]).toBe("request/unknown-field");
    expect(body["message"]).toContain('"label"');
  });

  test("Last-Event-ID becomes a field of a stream's input", async () => {
    const seen: unknown[] = [];
    async function* none() {}
    const streams = createDoor({
      "process.stream": (input) => {
        seen.push(input);
        return none();
      },
    });
    await streams.fetch(
      request("GET", `/api/v0/processes/${id}/stream?from=3`, { headers: { "last-event-id": "9" } }),
      onTcp,
    );
    expect(seen).toEqual([{ id, from: 3, last_event_id: "9" }]);
  });
});
