import { describe, expect, test } from "vitest";
import { readBytes } from "../../../src/http/bytes.ts";
import type { Exchange } from "../../../src/http/exchange.ts";
import { createDoor, jsonOf, onTcp, request } from "../../support/http-door.ts";

type Controller = ReadableStreamDefaultController<Uint8Array>;

function exchangeOf(
  body: (controller: Controller) => void,
  signal: AbortSignal = new AbortController().signal,
): Exchange {
  const stream = new ReadableStream<Uint8Array>({ start: body });
  return { request: { body: stream }, caller: { signal } } as unknown as Exchange;
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}
const bytes = (text: string) => Buffer.from(text);

describe("a body of bytes", () => {
  test("comes whole, and ends where its sender ended it", async () => {
    const body = exchangeOf((c) => {
      c.enqueue(bytes("a"));
      c.enqueue(bytes("b"));
      c.close();
    });
    expect(await textOf(readBytes(body))).toBe("ab");
    expect(await textOf(readBytes({ request: { body: null } } as unknown as Exchange))).toBe("");
  });

  test("that stops coming is given up after a while", async () => {
    const body = exchangeOf((c) => c.enqueue(bytes("a")));
    await expect(textOf(readBytes(body, 20))).rejects.toMatchObject({ code: "request/stalled" });
  });

  test("that breaks off, or whose request is aborted, is an error and never an end", async () => {
    const broken = exchangeOf((c) => c.error(new Error("reset")));
    await expect(textOf(readBytes(broken))).rejects.toMatchObject({ code: "request/invalid" });
    const controller = new AbortController();
    const aborted = textOf(readBytes(exchangeOf((c) => c.enqueue(bytes("a")), controller.signal)));
    controller.abort(new Error("revoked"));
    await expect(aborted).rejects.toThrow("revoked");
  });
});

describe("file routes", () => {
  const path = encodeURIComponent("/a b");

  test("refuse a query parameter that they do not have, whoever asks", async () => {
    const door = createDoor({});
    const routes: [string, string][] = [
      ["POST", `list-directory?path=${path}&pth=1`],
      ["GET", `resolve-path?path=${path}&pth=1`],
      ["GET", `read-file?path=${path}&pth=1`],
      ["GET", `read-file-lines?path=${path}&pth=1`],
      ["POST", `write-file?path=${path}&pth=1`],
      ["POST", "edit-files?pth=1"],
    ];
    for (const [method, route] of routes) {
      const response = await door.fetch(request(method, `/api/v0/${route}`), onTcp);
      expect([route, response.status]).toEqual([route, 400]);
      expect(await jsonOf(response)).toMatchObject({
        code: "request/unknown-field",
        validations: [{ field: "pth", detail: expect.any(String) }],
      });
    }
  });

  test("name a missing path and numbers that are none", async () => {
    const door = createDoor({});
    for (const route of [
      "resolve-path",
      "read-file",
      "read-file-lines",
      "read-file?path=/a&offset=-1",
      "read-file?path=/a&limit=x",
    ]) {
      const response = await door.fetch(request("GET", `/api/v0/${route}`), onTcp);
      expect([route, response.status]).toEqual([route, 400]);
      expect(await jsonOf(response)).toMatchObject({
        validations: [{ field: expect.stringMatching(/path|offset|limit/) }],
      });
    }
  });

  test("take the directory from the query before the body, and an empty body for none", async () => {
    const seen: unknown[] = [];
    const door = createDoor({
      "file.list": (input) => {
        seen.push(input);
        return { absolute_path: [], absolute_path_string: "/", contents: [] };
      },
    });
    const list = (query: string, body?: string) =>
      door.fetch(request("POST", `/api/v0/list-directory${query}`, body === undefined ? {} : { body }), onTcp);
    // What the original's client sends.
    expect((await list(`?path=${path}`, '{"path":null,"relativity":""}')).status).toBe(200);
    expect((await list("", '{"path":["a"],"relativity":"home"}')).status).toBe(200);
    expect((await list(`?path=${path}`)).status).toBe(200);
    expect((await list("", '{"path":[1]}')).status).toBe(400);
    expect((await list("", '{"relativity":"sideways"}')).status).toBe(400);
    expect(seen).toEqual([{ path: "/a b", relativity: "" }, { path: ["a"], relativity: "home" }, { path: "/a b" }]);
  });

  test("refuse edits over 4 MiB", async () => {
    const body = JSON.stringify({ files: [{ path: "/a", edits: [{ search: "x", replace: "y".repeat(4 << 20) }] }] });
    const response = await createDoor({}).fetch(request("POST", "/api/v0/edit-files", { body }), onTcp);
    expect(response.status).toBe(413);
  });
});
