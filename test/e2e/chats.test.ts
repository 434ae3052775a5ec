import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { ChatCaller } from "../support/chat-caller.ts";
import { type Answer, membersOf, program, RealDaemon, root } from "../support/real-daemon.ts";
import { until } from "../support/until.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

interface Side {
  readonly chat: string;
  readonly caller: ChatCaller;
  readonly marker: string;
  readonly id: string;
}

async function openSide(): Promise<Side> {
  const chat = randomUUID();
  const caller = await ChatCaller.create(daemon, { chat });
  const marker = `marker-${randomUUID()}`;
  const id = await caller.started({
    command: `echo ${marker}; exec cat`,
    tty: true,
    label: "same",
    client_token: "same",
  });
  await caller.process("POST", `${id}/wait`, { for: { match: marker }, cursor: 0 });
  return { chat, caller, marker, id };
}

/** Everything that can be tried on a process, each with what it answers. */
const attempts: Record<string, (by: ChatCaller, id: string) => Promise<Answer | { status: number }>> = {
  get: (by, id) => by.process("GET", id),
  output: (by, id) => by.process("GET", `${id}/output`),
  "output and wait": (by, id) => by.process("GET", `${id}/output?wait=true`),
  log: (by, id) => by.process("GET", `${id}/log`),
  "log bytes": (by, id) => by.process("GET", `${id}/log`, undefined, { accept: "application/octet-stream" }),
  search: (by, id) => by.process("GET", `${id}/log/search?q=marker`),
  tree: (by, id) => by.process("GET", `${id}/tree`),
  stream: (by, id) => by.process("GET", `${id}/stream`),
  wait: (by, id) => by.process("POST", `${id}/wait`, { for: { exit: true } }),
  stdin: (by, id) => by.process("POST", `${id}/stdin`, { data: "intruder\n" }),
  resize: (by, id) => by.process("POST", `${id}/resize`, { cols: 33, rows: 33 }),
  signal: (by, id) => by.process("POST", `${id}/signal`, { signal: "kill" }),
  "signal without one": (by, id) => by.process("POST", `${id}/signal`, {}),
  "signal that does not exist": (by, id) => by.process("POST", `${id}/signal`, { signal: "nonsense" }),
  stop: (by, id) => by.process("POST", `${id}/stop`, {}),
  delete: (by, id) => by.process("DELETE", id),
  attach: async (by, id) => {
    const outcome = await by.attach(id);
    if (outcome instanceof WebSocket) outcome.terminate();
    return outcome instanceof WebSocket ? { status: 101 } : outcome;
  },
};

const tool =
  (name: string, more: object = {}) =>
  (by: ChatCaller, id: string) =>
    by.call("POST", `/api/v0/tools/${name}`, { process_id: id, ...more });

/** What answers 200 and says in its body that there is nothing. */
const told: Record<string, (by: ChatCaller, id: string) => Promise<Answer>> = {
  process_output: tool("process_output"),
  process_wait: tool("process_wait"),
  process_input: tool("process_input", { text: "intruder" }),
  process_signal: tool("process_signal", { signal: "kill" }),
  process_stop: tool("process_stop"),
  process_search: tool("process_search", { query: "marker" }),
  "mcp resource": (by, id) => by.mcp("resources/read", { uri: `drover://process/${id}/log` }),
  "mcp tool": (by, id) => by.mcp("tools/call", { name: "process_stop", arguments: { process_id: id } }),
};

// Promise: apart
describe("pain P13: two chats that hammer each other's ids", () => {
  test("see nothing of each other, and touch nothing", async () => {
    const [a, b] = await Promise.all([openSide(), openSide()]);
    const streams = await Promise.all([a, b].map(({ caller }) => caller.stream(`/api/v0/events?after=0`)));
    const hammer = async (self: Side, other: Side) => {
      const nobody = randomUUID();
      await Promise.all(
        Object.entries(attempts).map(async ([name, attempt]) => {
          const [foreign, unknown] = await Promise.all([attempt(self.caller, other.id), attempt(self.caller, nobody)]);
          expect([name, foreign.status]).toEqual([name, 404]);
          // Nor can it be told whether such a process exists.
          const text = (answer: object, id: string) =>
            "body" in answer ? JSON.stringify(answer.body).replaceAll(id, "ID") : "";
          expect([name, text(foreign, other.id)]).toEqual([name, text(unknown, nobody)]);
        }),
      );
      await Promise.all(
        Object.entries(told).map(async ([name, attempt]) => {
          const [foreign, unknown] = await Promise.all([attempt(self.caller, other.id), attempt(self.caller, nobody)]);
          const text = JSON.stringify(foreign.body).replaceAll(other.id, "ID");
          expect([name, text]).toEqual([name, JSON.stringify(unknown.body).replaceAll(nobody, "ID")]);
          expect([name, text]).toEqual([name, expect.stringMatching(/No process has|not found/)]);
        }),
      );
      const resources = JSON.stringify((await self.caller.mcp("resources/list", {})).body);
      expect([resources.includes(self.id), resources.includes(other.id)]).toEqual([true, false]);
      for (const query of ["", "?all=true", "?label=same&all=true", `?prefix=${other.id.slice(0, 8)}&all=true`]) {
        const { body } = await self.caller.process("GET", `list${query}`);
        const own = query.includes("prefix") ? [] : [self.id];
        expect([query, body.processes.map((p: { id: string }) => p.id)]).toEqual([query, own]);
      }
      expect((await self.caller.process("GET", "tokens/same")).body.id).toBe(self.id);
      const again = await self.caller.process("POST", "start", { command: "true", client_token: "same" });
      expect([again.status, JSON.stringify(again.body).includes(other.id)]).toEqual([409, false]);
    };
    await Promise.all(Array.from({ length: 8 }, () => Promise.all([hammer(a, b), hammer(b, a)])).flat());

    for (const [i, side] of [a, b].entries()) {
      const other = [b, a][i] ?? side;
      const stream = streams[i];
      const info = await side.caller.process("GET", side.id);
      expect(info.body).toMatchObject({ running: true, cols: 80, rows: 24, chat_id: side.chat });
      const log = await side.caller.process("GET", `${side.id}/log`);
      expect(log.body.data).not.toContain("intruder");
      await until("its own start is heard of", () => (stream?.messages.length ?? 0) > 0);
      const events = stream?.messages ?? [];
      expect(events.every(({ data }) => data["chat_id"] === side.chat)).toBe(true);
      expect(JSON.stringify(events)).not.toContain(other.marker);
      stream?.close();
      for (const filter of [`chat=${other.chat}`, `process=${other.id}`, "type=daemon.started"]) {
        const narrow = await side.caller.stream(`/api/v0/events?after=0&${filter}`);
        await new Promise((done) => setTimeout(done, 150));
        expect([filter, narrow.status, narrow.messages]).toEqual([filter, 200, []]);
        narrow.close();
      }
    }
  });

  test("a process without a chat is not there for a chat's token", async () => {
    const id = await daemon.started({ command: "sleep 60" });
    const caller = await ChatCaller.create(daemon, { chat: randomUUID() });
    for (const [name, attempt] of Object.entries(attempts))
      expect([name, (await attempt(caller, id)).status]).toEqual([name, 404]);
    expect((await caller.process("GET", "list?all=true")).body.processes).toEqual([]);
    // The plain header keeps the original's rule.
    const header = { "coder-chat-id": randomUUID() };
    expect((await daemon.process("GET", id, undefined, header)).status).toBe(200);
    expect((await daemon.process("GET", "list", undefined, header)).body.processes).toEqual([]);
  });

  test("whoever holds a port is named to a chat only when it is its own", async () => {
    const [a, b] = await Promise.all([0, 1].map(() => ChatCaller.create(daemon, { chat: randomUUID() })));
    if (!a || !b) throw new Error("two callers");
    const wait = { for: { match: "listening on \\d+" } };
    const server = await a.process("POST", "start", { argv: [program("listens")], wait });
    const port = Number(/\d+/.exec(server.body.wait.match.text)?.[0]);
    const holder = async (by: ChatCaller) => {
      const held = { for: { port }, timeout_ms: 300 };
      const { body } = await by.process("POST", "start", { command: "sleep 60", wait: held });
      const asTool = { process_id: body.id, for: { port }, timeout: "300ms" };
      const byTool = await by.call("POST", "/api/v0/tools/process_wait", asTool);
      return [body.wait.port_held_by, byTool.body.port_held_by];
    };
    expect(await holder(a)).toEqual(Array(2).fill(expect.stringMatching(new RegExp(`^pid \\d+ .*listens`))));
    expect(await holder(b)).toEqual(Array(2).fill("a process outside of this chat"));
  });

  test("another chat's repositories cannot be watched", async () => {
    const [chat, other] = [randomUUID(), randomUUID()];
    const caller = await ChatCaller.create(daemon, { chat });
    const refused = await caller.call("GET", `/api/v0/git/stream?chat_id=${other}`);
    expect([refused.status, refused.body.code]).toEqual([403, "auth/chat-mismatch"]);
    expect(await caller.socket(`/api/v0/git/watch?chat_id=${other}`)).toEqual({ status: 403 });
    const repository = await caller.call("GET", `/api/v0/git/status?path=${encodeURIComponent(root)}`);
    expect([repository.status, repository.body.code]).toEqual([404, "git/no-repository"]);
    const own = await caller.socket(`/api/v0/git/watch?chat_id=${chat}`);
    if (!(own instanceof WebSocket)) throw new Error("refused");
    const closed = new Promise((done) => own.once("close", done));
    await daemon.call("DELETE", `/api/v0/tokens/${caller.tokenId}`);
    expect(await closed).toBe(4401);
  });

  test("a header that contradicts the token is refused; the token's own chat needs no header", async () => {
    const chat = randomUUID();
    const caller = await ChatCaller.create(daemon, { chat });
    const refused = await caller.process("GET", "list", undefined, { "coder-chat-id": randomUUID() });
    expect([refused.status, refused.body.code]).toEqual([403, "auth/chat-mismatch"]);
    for (const header of [{}, { "coder-chat-id": chat.toUpperCase() }, { "coder-chat-id": "nonsense" }])
      expect((await caller.process("GET", "list", undefined, header as Record<string, string>)).status).toBe(200);
    const command = 'echo "$CODER_CHAT_ID $DROVER_CHAT_ID"';
    const { body } = await caller.process("POST", "start", { command, wait: {} });
    expect(body.wait.output).toBe(`${chat} ${chat}\n`);
    expect((await caller.process("GET", body.id)).body.chat_id).toBe(chat);
  });
});

describe("ancestors", () => {
  test("may read, signal and stop what chats below them run when their token says so, and no more", async () => {
    const [parent, child] = [randomUUID(), randomUUID()];
    const above = await ChatCaller.create(daemon, { chat: parent, descendants: true });
    const plain = await ChatCaller.create(daemon, { chat: parent });
    const below = await ChatCaller.create(daemon, { chat: child });
    const ancestors = { "coder-ancestor-chat-ids": JSON.stringify([parent]) };
    const events = await above.stream("/api/v0/events");
    const deaf = await plain.stream("/api/v0/events");
    const id = await below.started({ command: "echo from-below; exec cat", tty: true }, ancestors);
    const ended = await below.started({ command: "true" }, ancestors);
    await below.process("POST", `${ended}/wait`, { for: { exit: true } });

    const ids = async (by: ChatCaller) =>
      (await by.process("GET", "list")).body.processes.map((p: { id: string }) => p.id).toSorted();
    expect(await ids(above)).toEqual([id, ended].toSorted());
    expect(await ids(plain)).toEqual([]);
    expect(await ids(below)).toEqual([id, ended].toSorted());
    await until("the parent hears of it", () => events.messages.some(({ data }) => data["process_id"] === id));
    expect(events.messages.find(({ data }) => data["process_id"] === id)?.data).toMatchObject({
      chat_id: child,
      ancestor_chat_ids: [parent],
    });
    expect(deaf.messages).toEqual([]);

    for (const path of [id, `${id}/output`, `${id}/log`, `${id}/tree`, `${id}/log/search?q=below`]) {
      expect([path, (await above.process("GET", path)).status]).toEqual([path, 200]);
      expect([path, (await plain.process("GET", path)).status]).toEqual([path, 404]);
    }
    const waited = await above.process("POST", `${id}/wait`, { for: { match: "from-below" }, cursor: 0 });
    expect(waited.body.fired).toBe("match");
    for (const refused of [
      await above.process("POST", `${id}/stdin`, { data: "x\n" }),
      await above.process("POST", `${id}/resize`, { cols: 10, rows: 10 }),
      await above.process("DELETE", id),
    ])
      expect([refused.status, refused.body.code]).toEqual([403, "auth/out-of-scope"]);
    const socket = await above.attach(id);
    if (!(socket instanceof WebSocket)) throw new Error("refused");
    const said: string[] = [];
    socket.on("message", (data: Buffer, isBinary) => isBinary || said.push(data.toString()));
    socket.send(Buffer.from("intruder\n"));
    await until("input is refused", () => said.some((text) => text.includes('"error"')));
    socket.terminate();
    expect((await below.process("GET", `${id}/log`)).body.data).not.toContain("intruder");

    expect((await above.process("POST", `${id}/signal`, { signal: "CONT" })).status).toBe(200);
    expect((await above.process("POST", `${id}/stop`, {})).body.stopped).toBe(true);
    const own = await above.started({ command: "true" });
    expect((await above.process("GET", own)).body.chat_id).toBe(parent);
    expect((await below.process("GET", own)).status).toBe(404);
    events.close();
    deaf.close();
    await daemon.restart();
    expect(await ids(above)).toEqual([id, ended, own].toSorted());
  });
});

describe("pain P1: the end of a chat", () => {
  test("stops what was started to end with it, with everything below, and keeps the rest", async () => {
    const [chat, other] = [randomUUID(), randomUUID()];
    const header = { "coder-chat-id": chat };
    const doomed = await daemon.started(
      { command: `${program("setsid-children")} & sleep 60`, on_chat_end: "stop" },
      header,
    );
    const leftover = await daemon.started({ command: "sleep 60 & exit 0", on_chat_end: "stop" }, header);
    const kept = await daemon.started({ command: "sleep 60", on_chat_end: "keep" }, header);
    const byDefault = await daemon.started({ command: "sleep 60" }, header);
    const gone = await daemon.started({ command: "true", on_chat_end: "stop", wait: {} }, header);
    const strangers = await daemon.started({ command: "sleep 60", on_chat_end: "stop" }, { "coder-chat-id": other });

    const end = (headers = {}) => daemon.call("DELETE", `/api/v0/chats/${chat}`, undefined, headers);
    const refused = await end({ "coder-chat-id": other });
    expect([refused.status, refused.body.code]).toEqual([403, "auth/chat-mismatch"]);
    const foreign = await ChatCaller.create(daemon, { chat: other });
    expect((await foreign.call("DELETE", `/api/v0/chats/${chat}`)).body.code).toBe("auth/chat-mismatch");

    const { status, body } = await end();
    expect(status).toBe(200);
    expect(body.stopped.toSorted()).toEqual([doomed, leftover].toSorted());
    expect(body.kept.toSorted()).toEqual([kept, byDefault].toSorted());
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    expect([doomed, leftover, gone].flatMap((id) => membersOf(id, pids))).toEqual([]);
    for (const id of [kept, byDefault, strangers])
      expect((await daemon.process("GET", id)).body.running, id).toBe(true);

    const own = await ChatCaller.create(daemon, { chat });
    const again = await own.call("DELETE", `/api/v0/chats/${chat.toUpperCase()}`);
    expect(again.body.stopped).toEqual([]);
    expect(again.body.kept.toSorted()).toEqual([kept, byDefault].toSorted());
    expect((await daemon.call("DELETE", "/api/v0/chats/nonsense")).status).toBe(400);
    expect((await daemon.call("DELETE", `/api/v0/chats/${randomUUID()}`)).body).toEqual({ stopped: [], kept: [] });
  });
});
