import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import type { GitRepository as Entry, GitChanges } from "../../src/contract/index.ts";
import { createClient } from "../../src/sdk/index.ts";
import { GitRepository, makeTemporary } from "../support/git-repository.ts";
import { RealDaemon } from "../support/real-daemon.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

interface Heard {
  socket: WebSocket;
  messages: (GitChanges | { type: "error"; message: string })[];
  entries(): Entry[];
  closed: Promise<{ code: number; reason: string }>;
}

async function watch(query: string, o: { headers?: Record<string, string>; token?: string } = {}): Promise<Heard> {
  const socket = new WebSocket(`${daemon.url.replace("http", "ws")}/api/v0/git/watch${query}`, {
    headers: { authorization: `Bearer ${o.token ?? daemon.token}`, ...o.headers },
  });
  onTestFinished(() => socket.terminate());
  const messages: Heard["messages"] = [];
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString())));
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const entries = () => messages.flatMap((message) => ("repositories" in message && message.repositories) || []);
  return { socket, messages, entries, closed };
}

const inChat = (chat: string, ancestors: string[] = []) => ({
  "coder-chat-id": chat,
  "coder-ancestor-chat-ids": JSON.stringify(ancestors),
});

test("a process of a chat brings its repository, changes follow, and all is there again after a restart", async () => {
  const repository = GitRepository.create();
  const head = repository.commit({ a: "1\n" });
  const chat = randomUUID();
  const parent = randomUUID();
  const heard = await watch(`?chat_id=${chat}`);
  const above = await watch(`?chat_id=${parent}`);
  const other = await watch(`?chat_id=${randomUUID()}`);
  // Already at its start, not at its end.
  await daemon.started({ command: "sleep 60", workdir: repository.root }, inChat(chat, [parent]));
  await until("told", () => heard.entries().length > 0 && above.entries().length > 0);
  expect(heard.entries()[0]).toEqual({ repo_root: repository.root, branch: "main", head, files: [] });
  repository.write("ü", "new\n");
  await until("the change", () => heard.entries().some((entry) => entry.unified_diff?.includes("+++ b/ü\n")));
  expect(other.messages).toEqual([]);

  await daemon.restart();
  const again = await watch(`?chat_id=${chat.toUpperCase()}`);
  await until("told again", () => again.entries().length > 0);
  expect(again.entries()[0]).toMatchObject({ repo_root: repository.root, files: [{ path: "ü" }] });
});

test("a command that changes its directory is followed there", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const chat = randomUUID();
  await daemon.started({ command: `cd ${repository.root} && sleep 30`, workdir: makeTemporary() }, inChat(chat));
  const heard = await watch("", { headers: inChat(chat) });
  await until("told", () => heard.entries().some((entry) => entry.repo_root === repository.root));
});

test("files that a chat writes bring their repository", async () => {
  const repository = GitRepository.create();
  const chat = randomUUID();
  const path = encodeURIComponent(join(repository.root, "deep/new.txt"));
  expect((await daemon.call("POST", `/api/v0/write-file?path=${path}`, "hello\n", inChat(chat))).status).toBe(200);
  const heard = await watch(`?chat_id=${chat}`);
  await until("told", () => heard.entries().some((entry) => entry.unified_diff?.includes("+hello\n")));
});

test("refresh, unknown types, broken frames and bad chat ids are answered as in the original", async () => {
  const repository = GitRepository.create();
  const chat = randomUUID();
  await daemon.started({ command: "true", workdir: repository.root, wait: { for: { exit: true } } }, inChat(chat));
  const heard = await watch(`?chat_id=${chat}`);
  await until("told", () => heard.messages.length === 1);
  heard.socket.send('{"type":"refresh"}');
  await until("answered", () => heard.messages.length === 2, { timeoutMs: 4_000 });
  expect(Object.keys(heard.messages[1] ?? {})).toEqual(["type", "scanned_at"]);
  heard.socket.send('{"type":"x"}');
  await until("refused", () => heard.messages.length === 3);
  expect(heard.messages[2]).toEqual({ type: "error", message: "unknown message type" });
  heard.socket.send("{");
  expect((await heard.closed).code).toBe(1007);
  const binary = await watch("?chat_id=rubbish");
  binary.socket.send(Buffer.from("{}"), { binary: true });
  expect((await binary.closed).code).toBe(1003);
  expect(binary.messages).toEqual([]);
  const large = await watch("");
  large.socket.send(`{"type":"${"x".repeat(5 << 20)}"}`);
  expect((await large.closed).code).toBe(1009);
});

test("a frame stays below 4 MiB whatever the diff holds", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  for (let i = 0; i < 12; i++) repository.write(`f${i}.tsx`, `${'<a b="c">&\t'.repeat(40)}\n`.repeat(1_000));
  const chat = randomUUID();
  await daemon.started({ command: "true", workdir: repository.root, wait: { for: { exit: true } } }, inChat(chat));
  const heard = await watch(`?chat_id=${chat}`);
  let longest = 0;
  heard.socket.on("message", (data: Buffer) => (longest = Math.max(longest, data.length)));
  await until("told", () => heard.entries().length > 0);
  const [entry] = heard.entries();
  expect(longest).toBeLessThan(4 << 20);
  expect(entry?.files).toHaveLength(12);
  expect(entry?.files?.every((file) => file.additions === 1_000)).toBe(true);
  expect(entry?.diff_omitted?.length).toBeGreaterThan(0);
  expect((entry?.diff_omitted?.length ?? 0) + (entry?.unified_diff?.match(/^diff --git/gm)?.length ?? 0)).toBe(12);
});

test("git.status answers for a path, and says what is wrong with it", async () => {
  const repository = GitRepository.create();
  repository.commit({ "src/a": "1\n" });
  repository.write("src/a", "2\n");
  const ask = (path: string) => daemon.call("GET", `/api/v0/git/status?path=${encodeURIComponent(path)}`);
  const { status, body } = await ask(join(repository.root, "src/a"));
  expect(status).toBe(200);
  expect(body).toMatchObject({ repo_root: repository.root, branch: "main", files: [{ path: "src/a", additions: 1 }] });
  expect(await ask("/")).toMatchObject({ status: 404, body: { code: "git/no-repository" } });
  expect(await ask("src/a")).toMatchObject({ status: 400, body: { code: "request/invalid" } });
  expect((await daemon.call("GET", "/api/v0/git/status")).status).toBe(400);
});

test("git.stream tells the same as events", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const path = encodeURIComponent(repository.root);
  const response = await fetch(`${daemon.url}/api/v0/git/stream?path=${path}`, {
    headers: { authorization: `Bearer ${daemon.token}` },
    signal: ending.signal,
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  let text = "";
  void (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  })().catch(() => undefined);
  await until("the state", () => /event: changes\nid: \d+\ndata: \{"type":"changes".*"files":\[\]/.test(text));
  repository.write("a", "2\n");
  await until("the change", () => text.includes('"path":"a"'));
  rmSync(repository.root, { recursive: true });
  await until("the end", () => text.includes('"removed":true'));
  expect((await daemon.call("GET", "/api/v0/git/stream?path=/")).status).toBe(404);
});

test("the client reads both, and doctor says how repositories are watched", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const client = createClient({ url: daemon.url, token: daemon.token });
  onTestFinished(() => client.close());
  expect(await client.git.status({ path: repository.root })).toMatchObject({ branch: "main", files: [] });
  const ending = new AbortController();
  const changes = client.git.watch({ path: repository.root, signal: ending.signal });
  expect((await changes.next()).value).toMatchObject({ repositories: [{ repo_root: repository.root }] });
  const { stdout } = await run(process.execPath, [join(daemon.dist, "cli/main.js"), "doctor", "--home", daemon.home]);
  expect(stdout).toMatch(/git watch +\d+ repositories for \d+ connections, by file-system events/);
  expect(stdout).toMatch(/inotify watches/);
  ending.abort();
});

test("a token of a chat watches that chat only", async () => {
  const [mine, theirs] = [GitRepository.create(), GitRepository.create()];
  const [chat, other] = [randomUUID(), randomUUID()];
  await daemon.started({ command: "true", workdir: mine.root, wait: { for: { exit: true } } }, inChat(chat));
  await daemon.started({ command: "true", workdir: theirs.root, wait: { for: { exit: true } } }, inChat(other));
  const { token } = (await daemon.call("POST", "/api/v0/tokens", { chat })).body;
  const heard = await watch("", { token });
  await until("told", () => heard.entries().length > 0);
  expect(heard.entries().map((entry) => entry.repo_root)).toEqual([mine.root]);
  await expect(watch(`?chat_id=${other}`, { token })).rejects.toThrow("403");
  const headers = { authorization: `Bearer ${token}` };
  const ask = (path: string) =>
    daemon.call("GET", `/api/v0/git/status?path=${encodeURIComponent(path)}`, undefined, headers);
  expect((await ask(mine.root)).status).toBe(200);
  expect((await ask(theirs.root)).status).toBe(404);
  expect((await daemon.call("GET", `/api/v0/git/stream?chat_id=${other}`, undefined, headers)).status).toBe(403);
});

test("a watcher that stops reading is dropped with 1013, or 1001 when only its pong is missing", {
  timeout: 120_000,
}, async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const chat = randomUUID();
  await daemon.started({ command: "true", workdir: repository.root, wait: { for: { exit: true } } }, inChat(chat));
  const silent = await watch(`?chat_id=${randomUUID()}`);
  silent.socket.pause();
  const stalled = await watch(`?chat_id=${chat}`);
  const reading = await watch(`?chat_id=${chat}`);
  await until("told", () => stalled.entries().length > 0);
  stalled.socket.pause();
  const before = daemon.rssBytes();
  // Incompressible, and new every time: more than the kernel's buffers take.
  const noise = () =>
    Buffer.from(Array.from({ length: 900_000 }, () => 33 + Math.floor(Math.random() * 90))).toString();
  for (let i = 0; i < 16; i++) {
    repository.write("a", `${noise()}\n`);
    await until("told", () => reading.entries().length > i + 1);
  }
  expect(daemon.rssBytes() - before).toBeLessThan(200 << 20);
  await new Promise((resolve) => setTimeout(resolve, 33_000));
  stalled.socket.resume();
  expect((await stalled.closed).code).toBe(1013);
  silent.socket.resume();
  expect((await silent.closed).code).toBe(1001);
  expect(reading.socket.readyState).toBe(WebSocket.OPEN);
});

test("status tells how repositories are watched", async () => {
  const repository = GitRepository.create();
  const chat = randomUUID();
  await daemon.started({ command: "true", workdir: repository.root, wait: { for: { exit: true } } }, inChat(chat));
  const heard = await watch(`?chat_id=${chat}`);
  await until("told", () => heard.entries().length > 0);
  const { body } = await daemon.call("GET", "/api/v0/status");
  expect(body.git).toMatchObject({ polled: 0, reasons: [] });
  expect(body.git.connections).toBeGreaterThan(0);
  expect(body.git.repositories).toBeGreaterThan(0);
});
