// The part of Drover's API that the questions use, built the way most servers build it: child_process behind node:http, output
// and truth in memory. It is the other side of every ratio, so it does no more work than it must and none twice.
// Prints {"url","token"} when it listens. Ends when its stdin closes.
import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import http from "node:http";

const MOST_ENDED = 200;
const HEAD_BYTES = 16_384;
const TAIL_BYTES = 16_384;
const token = randomBytes(32).toString("hex");
const processes = new Map();

function start(request) {
  const child = spawn("sh", ["-c", request.command], { cwd: request.workdir, stdio: ["ignore", "pipe", "pipe"] });
  const record = {
    id: randomUUID(),
    child,
    head: "",
    tail: "",
    bytes: 0,
    startedAt: new Date().toISOString(),
    code: undefined,
  };
  child.stdout.on("data", (data) => keep(record, data));
  child.stderr.on("data", (data) => keep(record, data));
  record.closed = new Promise((resolve) => {
    child.on("error", () => resolve());
    child.on("close", (code) => {
      record.code = code ?? -1;
      if (processes.size > MOST_ENDED) processes.delete(processes.keys().next().value);
      resolve();
    });
  });
  processes.set(record.id, record);
  return record;
}

function keep(record, data) {
  record.bytes += data.length;
  const room = HEAD_BYTES - record.head.length;
  if (room > 0) record.head += data.toString("utf8", 0, room);
  if (data.length > room) record.tail = (record.tail + data.toString("utf8", Math.max(0, room))).slice(-TAIL_BYTES);
}

const output = (record) => record.head + record.tail;

const started = (record) => ({ id: record.id, started: true, pid: record.child.pid, started_at: record.startedAt });

async function answer(method, url, body) {
  if (method === "POST" && url === "/api/v0/processes/start") {
    const request = JSON.parse(body);
    const record = start(request);
    if (!request.wait) return started(record);
    await record.closed;
    const wait = {
      fired: "exit",
      running: false,
      exit_code: record.code,
      cursor: record.bytes,
      output: output(record),
    };
    return { ...started(record), wait };
  }
  const asked = /^\/api\/v0\/processes\/([0-9a-f-]{36})\/output(\?wait=true)?$/.exec(url);
  const record = asked && processes.get(asked[1]);
  if (!record) return undefined;
  if (asked[2]) await record.closed;
  return { output: output(record), running: record.code === undefined, exit_code: record.code, log_end: record.bytes };
}

const server = http.createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text) => (body += text));
  request.on("end", async () => {
    const allowed = request.headers.authorization === `Bearer ${token}`;
    const value = allowed ? await answer(request.method, request.url, body) : undefined;
    const text = JSON.stringify(value ?? { error: "not found" });
    response.writeHead(value ? 200 : 404, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}`, token })}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
