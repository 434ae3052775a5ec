import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectHttp, connectStdio, type McpPeer, protocols } from "../support/mcp-client.ts";
import { RealDaemon } from "../support/real-daemon.ts";
import { until } from "../support/until.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
const logOf = (id: string) => `drover://process/${id}/log`;

function post(headers: Record<string, string>, body: unknown = list): Promise<number> {
  return new Promise((done, fail) => {
    const sent = httpRequest(`${daemon.url}/mcp`, { method: "POST", headers: { ...accept, ...headers } }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    });
    sent.on("error", fail).end(JSON.stringify(body));
  });
}

describe("the door of /mcp", () => {
  test("Promise: closed-door — nothing without the token, from a foreign page or under a foreign name", async () => {
    const authorization = `Bearer ${daemon.token}`;
    expect(await post({})).toBe(401);
    expect(await post({ authorization: "Bearer wrong" })).toBe(401);
    expect(await post({ authorization, host: "evil.example" })).toBe(403);
    expect(await post({ authorization, origin: "https://evil.example" })).toBe(403);
    expect(await post({ authorization })).toBe(200);
  });

  test("nonsense gets an error of the protocol or of HTTP", async () => {
    const answer = (body: string, headers: Record<string, string> = accept) =>
      daemon.call("POST", "/mcp", body, headers);
    expect(await answer("garbage")).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
    expect(await answer("")).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
    expect((await answer("[]")).status).toBe(400);
    expect((await answer(JSON.stringify(ping), { "content-type": "text/plain" })).status).toBe(415);
    expect((await answer("x".repeat(5 << 20))).status).toBe(413);
    for (const method of ["GET", "DELETE", "PUT"]) expect((await daemon.call(method, "/mcp")).status).toBe(405);
    expect(await daemon.call("POST", "/mcp?toolz=drover", ping)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('"tools"') },
    });
  });
});

describe("chats", () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const overHttp = (chat: string, protocol: (typeof protocols)[number]) =>
    connectHttp({ url: daemon.url, token: daemon.token, protocol, headers: { "coder-chat-id": chat } });

  const started = async (peer: McpPeer) => {
    const { structuredContent } = await peer.client.callTool({
      name: "execute",
      arguments: { command: "echo secret; exec sleep 300", run_in_background: true },
    });
    return String((structuredContent as Record<string, unknown>)["process_id"]);
  };

  test.each([
    ["http, 2026", () => overHttp(one, "2026-07-28"), () => overHttp(two, "2026-07-28")],
    ["http, 2025", () => overHttp(one, "2025-11-25"), () => overHttp(two, "2025-11-25")],
    [
      "stdio, --chat and environment",
      () => connectStdio({ home: daemon.home, args: ["--chat", one] }),
      () => connectStdio({ home: daemon.home, env: { CODER_CHAT_ID: two }, protocol: "2026-07-28" }),
    ],
  ])("Promise: apart — one chat sees nothing of the other's: %s", async (_, openOne, openTwo) => {
    const [a, b] = [await openOne(), await openTwo()];
    const id = await started(a);
    const seen = (await b.client.listResources()).resources.map(({ uri }) => uri);
    expect(seen).not.toContain(logOf(id));
    expect((await a.client.listResources()).resources.map(({ uri }) => uri)).toContain(logOf(id));
    await expect(b.client.readResource({ uri: logOf(id) })).rejects.toMatchObject({ code: -32_602 });
    for (const name of ["process_output", "process_stop", "process_search"]) {
      const args = { process_id: id, ...(name === "process_search" && { query: "secret" }) };
      expect(await b.client.callTool({ name, arguments: args })).toMatchObject({ isError: true });
    }
    if (b.client.getNegotiatedProtocolVersion() === "2026-07-28") {
      const listening = await b.client.listen({ resourceSubscriptions: [logOf(id)], resourcesListChanged: true });
      await daemon.call("POST", `/api/v0/processes/${id}/stop`, {});
      const own = await started(b);
      await until("its own change is told", () => b.listChanged.length > 0);
      expect(b.updated).toEqual([]);
      await listening.close();
      await b.client.callTool({ name: "process_stop", arguments: { process_id: own } });
    } else await a.client.callTool({ name: "process_stop", arguments: { process_id: id } });
    await a.close();
    await b.close();
  });

  test("an id that is none is refused, because it would show everything", async () => {
    await expect(connectStdio({ home: daemon.home, args: ["--chat", "mine"] })).rejects.toThrow();
  });
});

describe("tokens", () => {
  const create = async (body: object) => (await daemon.call("POST", "/api/v0/tokens", body)).body;

  test("one of a chat reaches that chat; one that may only read changes nothing", async () => {
    const chat = randomUUID();
    const { token } = await create({ chat, read_only: true });
    const id = await daemon.started({ command: "echo mine" }, { "coder-chat-id": chat });
    const foreign = await daemon.started({ command: "echo other" });
    const peer = await connectHttp({ url: daemon.url, token, protocol: "2026-07-28" });
    const offered = (await peer.client.listTools()).tools.map(({ name }) => name);
    expect(offered).toContain("process_output");
    expect(offered).not.toContain("execute");
    const { contents } = await peer.client.readResource({ uri: logOf(id) });
    expect(contents).toMatchObject([{ text: "mine\n" }]);
    await expect(peer.client.readResource({ uri: logOf(foreign) })).rejects.toMatchObject({ code: -32_602 });
    const refused = await peer.client.callTool({ name: "execute", arguments: { command: "true" } });
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("only read") }] });
    await peer.close();
  });

  test("a revoked one ends its subscription and its waits at once", async () => {
    const { token, id } = await create({});
    const peer = await connectHttp({ url: daemon.url, token, protocol: "2026-07-28" });
    const listening = await peer.client.listen({ resourcesListChanged: true });
    const command = { name: "execute", arguments: { command: "exec sleep 300", timeout: "40s", label: "revoked" } };
    const waiting = peer.client.callTool(command).then(
      () => "answered",
      () => "refused",
    );
    const find = async () => (await daemon.process("GET", "list?label=revoked")).body.processes[0];
    const { id: processId } = await until("it runs", find);
    const begun = Date.now();
    await daemon.call("DELETE", `/api/v0/tokens/${id}`);
    expect(await waiting).toBe("refused");
    await listening.closed;
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(await find()).toMatchObject({ running: true });
    await daemon.process("POST", `${processId}/stop`);
    await peer.close();
  });
});
