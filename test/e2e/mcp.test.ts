import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toolSetNames } from "../../src/contract/index.ts";
import { toolSets } from "../../src/contract/schemas.ts";
import { connectHttp, connectStdio, type McpPeer, type Protocol, protocols } from "../support/mcp-client.ts";
import { membersOf, program, RealDaemon } from "../support/real-daemon.ts";
import { until } from "../support/until.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

type Structured = Record<string, unknown>;
const doors = ["stdio", "http"] as const;
const ways = doors.flatMap((door) => protocols.map((protocol) => ({ door, protocol })));

function open(door: "stdio" | "http", protocol: Protocol, set?: string): Promise<McpPeer> {
  return door === "stdio"
    ? connectStdio({ home: daemon.home, protocol, args: set ? ["--tools", set] : [] })
    : connectHttp({ url: daemon.url, token: daemon.token, protocol, query: set ? `?tools=${set}` : "" });
}

const call = async (peer: McpPeer, name: string, args: Structured = {}) => {
  const result = await peer.client.callTool({ name, arguments: args });
  return { ...result, value: (result.structuredContent ?? {}) as Structured, text: textOf(result.content) };
};
const textOf = (content: unknown) => (content as { text: string }[])[0]?.text ?? "";
const logOf = (id: unknown) => `drover://process/${String(id)}/log`;

describe.each(ways)("mcp over $door with $protocol", ({ door, protocol }) => {
  let peer: McpPeer;
  beforeAll(async () => {
    peer = await open(door, protocol);
  });
  afterAll(() => peer.close());

  test("speaks the protocol that was asked for", () => {
    expect(peer.client.getNegotiatedProtocolVersion()).toBe(protocol);
    expect(peer.client.getServerVersion()).toMatchObject({ name: "drover" });
  });

  test("lists every tool with schemas and hints", async () => {
    const { tools } = await peer.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(toolSets.drover.map(({ name }) => name));
    for (const tool of tools) {
      expect(tool).toMatchObject({ inputSchema: { type: "object" }, outputSchema: { type: "object" } });
      expect(tool.annotations).toMatchObject({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
      });
    }
  });

  test("runs a command: output first, then the facts in one line", async () => {
    const command = `printf '%s\\n' '{"success":true}' "it's"; exit 3`;
    const { value, text, isError } = await call(peer, "execute", { command });
    // The library checks structured output against the schema by itself.
    expect(value).toMatchObject({ success: false, exit_code: 3, output: `{"success":true}\nit's\n` });
    expect(isError).toBeFalsy();
    const lines = text.split("\n");
    expect(lines.slice(0, -1).join("\n")).toBe(`{"success":true}\nit's`);
    const { output: _, ...facts } = value;
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual(facts);
  });

  test("tells progress while a call waits: the time, and the last line", async () => {
    const seen: { progress: number; message?: string | undefined }[] = [];
    const command = "echo one; echo two; sleep 4.6";
    const result = await peer.client.callTool(
      { name: "execute", arguments: { command, timeout: "10s" } },
      { onprogress: (progress) => void seen.push(progress) },
    );
    expect(result.structuredContent).toMatchObject({ success: true });
    expect(seen.map(({ message }) => message)).toEqual(["2 s: two", "4 s: two"]);
    expect(seen.map(({ progress }) => progress)).toEqual([2, 4]);
  });

  test("a cancelled call stops waiting; the process lives on", async () => {
    const cancel = new AbortController();
    const label = `survives-${door}-${protocol}`;
    const waiting = peer.client.callTool(
      { name: "execute", arguments: { command: "echo up; exec sleep 300", timeout: "40s", label } },
      { signal: cancel.signal },
    );
    const isUp = async () => (await call(peer, "process_list", { label })).value["processes"] as Structured[];
    const [started] = await until("it runs", async () => ((await isUp()).length > 0 ? isUp() : undefined));
    cancel.abort();
    await expect(waiting).rejects.toThrow();
    const { value } = await call(peer, "process_output", { process_id: started?.["id"], wait_timeout: "1s" });
    expect(value).toMatchObject({ running: true, output: "up\n" });
    expect((await call(peer, "process_stop", { process_id: label })).value).toMatchObject({ success: true });
  });

  test("what the model can repair is a result, an unknown tool an error of the protocol", async () => {
    const bad = await call(peer, "execute", { comand: "true" });
    expect(bad.isError).toBe(true);
    expect(bad.text).toContain('did you mean "command"');
    const gone = await call(peer, "process_output", { process_id: "00000000-0000-4000-8000-000000000000" });
    expect(gone.isError).toBe(true);
    expect(gone.text).toContain("No process has the id");
    const unknown = peer.client.callTool({ name: "excute", arguments: {} });
    await expect(unknown).rejects.toMatchObject({ code: -32_602, message: expect.stringContaining('"execute"') });
    await expect(peer.client.readResource({ uri: "drover://nothing" })).rejects.toMatchObject({ code: -32_602 });
    await expect(peer.client.readResource({ uri: logOf("nobody") })).rejects.toMatchObject({ code: -32_602 });
  });

  test("lists logs and reads them in parts", async () => {
    const { value } = await call(peer, "execute", { command: `seq 100000`, label: `numbers-${door}-${protocol}` });
    const uri = logOf(value["process_id"]);
    const { resources } = await peer.client.listResources();
    expect(resources.find((resource) => resource.uri === uri)).toMatchObject({
      name: `numbers-${door}-${protocol}`,
      mimeType: "text/plain",
      size: 588_895,
    });
    const { resourceTemplates } = await peer.client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: "drover://process/{id}/log{?from}" }]);
    const read = async (at: string) => textOf((await peer.client.readResource({ uri: at })).contents);
    const tail = await read(uri);
    expect(tail).toMatch(/\n100000\n\[bytes \d+ to 588895 of 588895; the start: .*\?from=0\]$/);
    let whole = "";
    let next: string | undefined = `${uri}?from=0`;
    while (next) {
      const part: string = await read(next);
      expect(part.length).toBeLessThan(40_000);
      next = /the next part: (\S+)\]$/.exec(part)?.[1];
      whole += next ? part.slice(0, part.lastIndexOf("[")) : part;
    }
    expect(whole.replaceAll("\n", "")).toBe(Array.from({ length: 100_000 }, (_, i) => i + 1).join(""));
  });

  test("a server: started in the background, waited for, read, stopped, and nothing is left", async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const command = `${program("listens")} ${port} 300 60`;
    const started = await call(peer, "execute", {
      command,
      run_in_background: true,
      wait_for: { port },
      timeout: "20s",
    });
    expect(started.value).toMatchObject({ success: true, running: true, fired: "port" });
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("ok\n");
    const process_id = started.value["process_id"];
    const { value } = await call(peer, "process_output", { process_id, wait_timeout: "0s" });
    expect(value).toMatchObject({ running: true, output: `listening on ${port}\n` });
    expect((await call(peer, "process_stop", { process_id })).value).toMatchObject({ success: true });
    expect(membersOf(String(process_id), readdirSync("/proc"))).toEqual([]);
  });
});

describe("what is told without being asked", () => {
  const heard = ways.filter(({ door, protocol }) => door === "stdio" || protocol === "2026-07-28");
  test.each(heard)("over $door with $protocol: logs that grow, at most once a second, and the list", async (way) => {
    const peer = await open(way.door, way.protocol);
    const ticking = await call(peer, "execute", {
      command: "while :; do echo tick; sleep 0.1; done",
      run_in_background: true,
    });
    const silent = await call(peer, "execute", {
      command: "while :; do echo tock; sleep 0.1; done",
      run_in_background: true,
    });
    const uri = logOf(ticking.value["process_id"]);
    const isModern = way.protocol === "2026-07-28";
    const listening = isModern
      ? await peer.client.listen({ resourceSubscriptions: [uri, logOf("nobody")], resourcesListChanged: true })
      : void (await peer.client.subscribeResource({ uri }));
    const begun = Date.now();
    await until("it was told three times", () => peer.updated.length >= 3);
    expect(Date.now() - begun).toBeGreaterThan(1_900);
    expect(new Set(peer.updated)).toEqual(new Set([uri]));
    if (isModern) await listening?.close();
    else await peer.client.unsubscribeResource({ uri });
    const before = peer.updated.length;
    const changes = peer.listChanged.length;
    for (const { value } of [ticking, silent]) await call(peer, "process_stop", { process_id: value["process_id"] });
    if (!isModern) await until("the list changed", () => peer.listChanged.length > changes);
    expect(peer.updated.length).toBeLessThanOrEqual(before + 1);
    await peer.close();
  });

  test("the exit is told, and the list changes when something starts", async () => {
    const peer = await open("stdio", "2026-07-28");
    const { value } = await call(peer, "execute", { command: "sleep 1.5", run_in_background: true });
    const uri = logOf(value["process_id"]);
    await peer.client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true });
    await until("the exit is told", () => peer.updated.includes(uri));
    await until("the list changed", () => peer.listChanged.length > 0);
    await peer.close();
  });

  test("over HTTP a 2025 client is not promised what it cannot get", async () => {
    const peer = await open("http", "2025-11-25");
    expect(peer.client.getServerCapabilities()?.resources).toEqual({});
    await expect(peer.client.subscribeResource({ uri: logOf("x") })).rejects.toThrow();
    await peer.close();
  });
});

describe("tool sets", () => {
  test.each(doors.flatMap((door) => toolSetNames.map((set) => ({ door, set }))))(
    "$set over $door",
    async ({ door, set }) => {
      const peer = await open(door, "2026-07-28", set);
      const { tools } = await peer.client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(toolSets[set].map(({ name }) => name));
      await peer.close();
    },
  );

  test("a set that does not exist is refused", async () => {
    const answer = await daemon.call("POST", "/mcp?tools=claud", "{}");
    expect(answer).toMatchObject({ status: 400, body: { code: "request/invalid" } });
    await expect(connectStdio({ home: daemon.home, args: ["--tools", "claud"] })).rejects.toThrow();
  });
});
