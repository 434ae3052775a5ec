import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { createClient } from "../../src/sdk/index.ts";
import { ChatCaller } from "../support/chat-caller.ts";
import { RealDaemon, root } from "../support/real-daemon.ts";
import { until } from "../support/until.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

/** Everything a token can hold open on a process, each with how it ended. */
async function openAll(caller: ChatCaller, id: string) {
  const output = await caller.stream(`/api/v0/processes/${id}/stream`);
  const events = await caller.stream("/api/v0/events");
  const waits = [
    caller.process("POST", `${id}/wait`, { for: { exit: true }, timeout_ms: 600_000 }),
    caller.process("GET", `${id}/output?wait=true`),
    caller.process("POST", "start", { command: "sleep 61", wait: { for: { exit: true }, timeout_ms: 600_000 } }),
  ];
  const socket = await caller.attach(id);
  if (!(socket instanceof WebSocket)) throw new Error("refused");
  const said: string[] = [];
  socket.on("message", (data: Buffer, isBinary) => isBinary || said.push(data.toString()));
  const closed = new Promise<number>((done) => socket.once("close", done));
  await until("output flows", () => output.messages.length > 0);
  return {
    socket,
    async ends() {
      const answers = await Promise.all(waits);
      await Promise.all([output.ended, events.ended]);
      return {
        waits: answers.map(({ status, body }) => `${status} ${body.code}`),
        streams: [output, events].map(
          ({ messages }) => `${messages.at(-1)?.event} ${String(messages.at(-1)?.data["code"])}`,
        ),
        socket: `${await closed} ${JSON.parse(said.at(-1) ?? "{}").code}`,
      };
    },
  };
}

const endedWith = (code: string) => ({
  waits: [`401 ${code}`, `401 ${code}`, `401 ${code}`],
  streams: [`error ${code}`, `error ${code}`],
  socket: `4401 ${code}`,
});

describe("a token that ends", () => {
  test("by being revoked takes everything it has open with it, and nothing of others", async () => {
    const chat = randomUUID();
    const caller = await ChatCaller.create(daemon, { chat });
    const friend = await ChatCaller.create(daemon, { chat });
    const id = await caller.started({ command: "echo ready; exec cat", tty: true });
    const open = await openAll(caller, id);
    const others = await friend.stream(`/api/v0/processes/${id}/stream`);
    const begun = Date.now();
    const revoked = await daemon.call("DELETE", `/api/v0/tokens/${caller.tokenId}`);
    expect(revoked.body).toEqual({ done: true });
    // Frames that were on their way when the door closed are nobody's.
    open.socket.send(Buffer.from("too-late\n"));
    expect(await open.ends()).toEqual(endedWith("auth/wrong-token"));
    expect(Date.now() - begun).toBeLessThan(10_000);

    const after = await caller.process("GET", "list");
    expect([after.status, after.body.code, after.headers.get("www-authenticate")]).toEqual([
      401,
      "auth/wrong-token",
      "Bearer",
    ]);
    expect(await caller.attach(id)).toEqual({ status: 401 });
    expect((await friend.process("GET", id)).body.running).toBe(true);
    expect((await friend.process("GET", `${id}/log`)).body.data).not.toContain("too-late");
    await friend.process("POST", `${id}/stdin`, { data: "still-here\n" });
    await until("the other token's stream goes on", () => JSON.stringify(others.messages).includes("still-here"));
    others.close();
    expect((await daemon.call("DELETE", `/api/v0/tokens/${caller.tokenId}`)).body.code).toBe("token/not-found");
  });

  test("by its time does the same", async () => {
    const caller = await ChatCaller.create(daemon, { chat: randomUUID(), expires_in_ms: 2_500 });
    const id = await caller.started({ command: "echo ready; exec cat", tty: true });
    const open = await openAll(caller, id);
    expect(await open.ends()).toEqual(endedWith("auth/expired"));
    expect((await caller.process("GET", "list")).body.code).toBe("auth/expired");
    const { body } = await daemon.call("GET", "/api/v0/tokens");
    expect(body.tokens.find((t: { id: string }) => t.id === caller.tokenId)).toMatchObject({ expired: true });
  });

  test("tells a client of the library which it was", async () => {
    const caller = await ChatCaller.create(daemon, {});
    const id = await caller.started({ command: "echo ready; exec cat", tty: true });
    const client = createClient({ url: daemon.url, token: caller.token });
    const followed: unknown[] = [];
    const follow = (async () => {
      for await (const piece of client.processes.follow(id)) followed.push(piece);
    })();
    const attached = await client.processes.attach(id);
    const read = (async () => {
      for await (const _ of attached.output);
    })();
    const codes = Promise.all([follow, read].map((p) => p.catch((error: { code?: string }) => error.code)));
    await until("both are open", () => followed.length > 0);
    await client.tokens.revoke(caller.tokenId);
    expect(await codes).toEqual(["auth/wrong-token", "auth/wrong-token"]);
    client.close();
  });
});

describe("a token that may only read", () => {
  test("looks and waits, and changes nothing", async () => {
    const chat = randomUUID();
    const reader = await ChatCaller.create(daemon, { chat, read_only: true });
    const writer = await ChatCaller.create(daemon, { chat });
    const id = await writer.started({ command: "echo seen; exec cat", tty: true });
    await writer.process("POST", `${id}/wait`, { for: { match: "seen" }, cursor: 0 });
    for (const path of ["list", id, `${id}/output`, `${id}/log`, `${id}/tree`, `${id}/log/search?q=seen`])
      expect([path, (await reader.process("GET", path)).status]).toEqual([path, 200]);
    const waited = await reader.process("POST", `${id}/wait`, { for: { match: "seen" }, cursor: 0 });
    expect(waited.body.fired).toBe("match");
    const changes: [string, string, unknown][] = [
      ["POST", "start", { command: "true" }],
      ["POST", `${id}/stdin`, { data: "x" }],
      ["POST", `${id}/resize`, { cols: 9, rows: 9 }],
      ["POST", `${id}/signal`, { signal: "kill" }],
      ["POST", `${id}/stop`, {}],
      ["DELETE", id, undefined],
      // The right is looked at before the body and before the id.
      ["POST", "start", "no JSON"],
      ["DELETE", randomUUID(), undefined],
    ];
    for (const [method, path, body] of changes) {
      const answer = await reader.process(method, path, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, "auth/read-only"]);
    }
    const tool = (name: string, given: object) => reader.call("POST", `/api/v0/tools/${name}`, given);
    expect((await tool("process_output", { process_id: id, wait_timeout: "0s" })).body.success).toBe(true);
    expect((await tool("process_list", {})).status).toBe(200);
    expect((await tool("list_directory", { path: root })).status).toBe(200);
    const path = encodeURIComponent(join(root, "package.json"));
    expect((await reader.call("GET", `/api/v0/read-file?path=${path}`)).status).toBe(200);
    const target = join(daemon.home, "written");
    for (const refused of [
      await tool("execute", { command: "true" }),
      await tool("process_input", { process_id: id, text: "intruder" }),
      await tool("process_stop", { process_id: id }),
      await tool("write_file", { path: target, content: "x" }),
      await reader.call("POST", "/api/v0/tools/Bash?set=claude", { command: "true" }),
      await reader.call("POST", `/api/v0/write-file?path=${encodeURIComponent(target)}`, "x"),
      await reader.call("POST", "/api/v0/edit-files", { files: [] }),
    ])
      expect([refused.status, refused.body.code]).toEqual([403, "auth/read-only"]);
    expect(existsSync(target)).toBe(false);
    const byMcp = await reader.mcp("tools/call", { name: "execute", arguments: { command: `touch ${target}` } });
    expect(JSON.stringify(byMcp.body)).toContain("may only read");
    expect(existsSync(target)).toBe(false);
    const socket = await reader.attach(id);
    if (!(socket instanceof WebSocket)) throw new Error("refused");
    const said: string[] = [];
    socket.on("message", (data: Buffer, isBinary) => isBinary || said.push(data.toString()));
    socket.send(Buffer.from("intruder\n"));
    await until("input is refused", () => said.some((text) => text.includes('"error"')));
    socket.terminate();
    expect((await writer.process("GET", `${id}/log`)).body.data).not.toContain("intruder");
  });
});

describe("tokens", () => {
  test("are managed by those who are bound to no chat, and never shown twice", async () => {
    const bound = await ChatCaller.create(daemon, { chat: randomUUID(), label: "bound" });
    const reader = await ChatCaller.create(daemon, { read_only: true });
    const full = await ChatCaller.create(daemon, { label: "full" });
    for (const path of ["/api/v0/tokens", "/api/v0/status", "/metrics"]) {
      expect([path, (await bound.call("GET", path)).status]).toEqual([path, 403]);
      expect([path, (await reader.call("GET", path)).status]).toEqual([path, 200]);
    }
    expect((await bound.call("POST", "/api/v0/tokens", {})).body.code).toBe("auth/out-of-scope");
    expect((await bound.call("POST", "/api/v0/shutdown", {})).body.code).toBe("auth/out-of-scope");
    expect((await bound.process("POST", "adopt", { pid: process.pid })).body.code).toBe("auth/out-of-scope");
    expect((await reader.call("POST", "/api/v0/tokens", {})).body.code).toBe("auth/read-only");
    const made = await full.call("POST", "/api/v0/tokens", { label: "made by another" });
    expect(made.body).toMatchObject({ token: expect.stringMatching(/^drover_/), read_only: false, descendants: false });
    const { body } = await daemon.call("GET", "/api/v0/tokens");
    expect(JSON.stringify(body)).not.toContain("drover_");
    expect(body.tokens.find((t: { id: string }) => t.id === full.tokenId)).toMatchObject({
      label: "full",
      last_used_at: expect.any(String),
    });
    // One that is sent on the Unix socket counts there too.
    const ask = (token: string) =>
      execFileSync("curl", [
        "-s",
        "--unix-socket",
        join(daemon.home, "drover.sock"),
        "-H",
        `authorization: Bearer ${token}`,
        "http://d/api/v0/status",
      ]).toString();
    expect(ask(bound.token)).toContain("auth/out-of-scope");
    expect(ask("wrong")).toContain("auth/wrong-token");
  });

  test.each([
    [{ chat: "nonsense" }, "chat"],
    [{ chat: "00000000-0000-0000-0000-000000000000" }, "chat"],
    [{ descendants: true }, "descendants"],
    [{ expires_in_ms: 0 }, "expires_in_ms"],
    [{ expires_in_ms: -5 }, "expires_in_ms"],
    [{ expires_in_ms: 1e18 }, "expires_in_ms"],
    [{ label: "" }, "label"],
  ])("%j is refused by name", async (wanted, field) => {
    const { status, body } = await daemon.call("POST", "/api/v0/tokens", wanted);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });

  test("outlive the daemon, and lie nowhere on its disk", async () => {
    const kept = await ChatCaller.create(daemon, { chat: randomUUID() });
    const gone = await ChatCaller.create(daemon, {});
    await daemon.call("DELETE", `/api/v0/tokens/${gone.tokenId}`);
    await daemon.restart();
    expect((await kept.process("GET", "list")).status).toBe(200);
    expect((await gone.process("GET", "list")).status).toBe(401);
    for (const { token } of [kept, gone]) {
      const found = execFileSync("sh", ["-c", 'grep -rlF -- "$1" "$2" || true', "sh", token, daemon.home]).toString();
      expect(found).toBe("");
      expect(daemon.stderr).not.toContain(token);
    }
  });

  test("are made, listed and revoked on the command line", async () => {
    const chat = randomUUID();
    const drover = async (args: string[], env: Record<string, string> = {}) =>
      (
        await promisify(execFile)(process.execPath, [join(daemon.dist, "cli/main.js"), ...args], {
          cwd: root,
          env: { ...process.env, DROVER_PROCESS_ID: undefined, DROVER_HOME: daemon.home, ...env },
        })
      ).stdout.trim();
    expect(await drover(["token"])).toBe(daemon.token);
    const token = await drover(["token", "create", "--chat", chat, "--expires", "30d", "--label", "from cli"]);
    expect(token).toMatch(/^drover_[\w-]{43}$/);
    await daemon.started({ command: "sleep 60", label: "seen" }, { "coder-chat-id": chat });
    const listed = await drover(["ps", "--url", daemon.url, "--json"], { DROVER_TOKEN: token });
    expect(JSON.parse(listed).processes.map((p: { label: string }) => p.label)).toEqual(["seen"]);
    expect(await drover(["token", "ls"])).toMatch(
      new RegExp(`^\\w{8}  chat ${chat.slice(0, 8)} .* in (29|30)d +from cli$`, "m"),
    );
    const inJson = JSON.parse(await drover(["token", "ls", "--json"]));
    const { id } = inJson.tokens.find((t: { label?: string }) => t.label === "from cli");
    expect(await drover(["token", "revoke", "from cli"])).toBe(`${id.slice(0, 8)}  revoked`);
    await expect(drover(["ps", "--url", daemon.url], { DROVER_TOKEN: token })).rejects.toMatchObject({ code: 4 });
    await expect(drover(["token", "revoke", id])).rejects.toMatchObject({ code: 3 });
    const made = JSON.parse(
      await drover(["--json", "token", "create", "--read-only", "--chat", chat, "--descendants"]),
    );
    expect(made).toMatchObject({ read_only: true, descendants: true, chat_id: chat });
  });
});
