import { describe, expect, test } from "vitest";
import { routes } from "../../../src/contract/index.ts";
import { toRequest } from "../../../src/sdk/call.ts";
import { createClient, Fault } from "../../../src/sdk/index.ts";

describe("a call becomes a request", () => {
  test("with its parameters escaped", () => {
    expect(toRequest("process.by-token", { token: "a/b ?#ü" })).toEqual({
      method: "GET",
      path: "/api/v0/processes/tokens/a%2Fb%20%3F%23%C3%BC",
    });
  });

  test("with the rest in the query of a GET and in the body of a POST", () => {
    expect(toRequest("process.log", { id: "x", from: 5, tail: undefined, view: "text" })).toEqual({
      method: "GET",
      path: "/api/v0/processes/x/log?from=5&view=text",
    });
    const stop = toRequest("process.stop", { id: "x", signals: [{ signal: "INT" }] });
    expect(stop).toEqual({ method: "POST", path: "/api/v0/processes/x/stop", body: '{"signals":[{"signal":"INT"}]}' });
    // Its body is the content of the file.
    expect(toRequest("file.write", { path: "/a b" })).toEqual({
      method: "POST",
      path: "/api/v0/write-file?path=%2Fa+b",
    });
  });
});

function answering(status: number, body: string, seen: Request[] = []): typeof fetch {
  return async (input, init) => {
    seen.push(new Request(input as string, init));
    return new Response(body, { status });
  };
}

describe("a client", () => {
  test("has a method for every route that answers with a value", () => {
    const client = createClient() as unknown as Record<string, Record<string, unknown> | undefined>;
    for (const [name, route] of Object.entries(routes)) {
      const [family, rest = ""] = name.split(".");
      if (route.answer === "sse" || route.answer === "socket") continue;
      const method = rest.replaceAll(/-(\w)/g, (_, c: string) => c.toUpperCase());
      // `client.processes.start`, `client.files.list`; the daemon's own are the client's.
      const home = [`${family}es`, `${family}s`, family ?? ""].map((key) => client[key]).find((found) => found);
      expect((home ?? client)[method], name).toBeTypeOf("function");
    }
  });

  test("says who asks, and is strict unless told otherwise", async () => {
    const seen: Request[] = [];
    const chatId = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
    const options = {
      url: "http://host/",
      token: "t",
      chatId,
      ancestorChatIds: [chatId],
      fetch: answering(200, "{}", seen),
    };
    await createClient(options).processes.list({ all: true, limit: 3 });
    await createClient({ ...options, strict: false }).status();
    expect(seen[0]?.url).toBe("http://host/api/v0/processes/list?all=true&limit=3");
    expect(Object.fromEntries(seen[0]?.headers ?? [])).toMatchObject({
      authorization: "Bearer t",
      "drover-strict": "1",
      "coder-chat-id": chatId,
      "coder-ancestor-chat-ids": `["${chatId}"]`,
    });
    expect(seen[1]?.headers.has("drover-strict")).toBe(false);
  });

  test("throws the daemon's fault again", async () => {
    const body = JSON.stringify({ message: "gone", code: "process/not-found", detail: "d", data: { a: 1 } });
    const error: unknown = await createClient({ fetch: answering(404, body) })
      .processes.get("x")
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Fault);
    expect(error).toMatchObject({ code: "process/not-found", message: "gone", detail: "d", data: { a: 1 } });
  });

  test("says so when something else answers, or a newer daemon", async () => {
    const other = createClient({ fetch: answering(502, "<html>") });
    await expect(other.status()).rejects.toMatchObject({ code: "client/unreachable", detail: "Status 502: <html>" });
    await expect(createClient({ fetch: answering(200, "<html>") }).status()).rejects.toMatchObject({
      code: "client/unreachable",
    });
    const newer = createClient({ fetch: answering(418, '{"message":"m","code":"tea/pot"}') });
    await expect(newer.status()).rejects.toMatchObject({
      code: "internal/bug",
      message: "m",
      detail: "Unknown fault tea/pot.",
    });
  });

  test("names what cannot be reached", async () => {
    await expect(createClient({ socket: "/nowhere/drover.sock" }).status()).rejects.toMatchObject({
      code: "client/unreachable",
      message: "No Drover daemon answers at /nowhere/drover.sock.",
    });
    const long = `/${"d".repeat(120)}/drover.sock`;
    await expect(createClient({ socket: long }).status()).rejects.toMatchObject({ code: "client/unreachable" });
  });

  test("throws the reason of the caller's own signal", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(createClient({ socket: "/nowhere" }).status({}, { signal })).rejects.toThrow("enough");
  });
});
