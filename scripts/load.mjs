// usage: build/test/reaper node scripts/load.mjs [rest=1000] [sequence=10000] [readers=50] [gigabytes=5]   (a number of 0 leaves a part out)
//
// The heavy questions in one run: processes at rest, starts one after another, slow SSE readers, and output without end. Answers must be
// right and the daemon's memory bounded. The suite runs the same with small numbers.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const asked = Object.fromEntries(process.argv.slice(2).map((a) => a.split("=")));
const size = (name, usual) => Number(asked[name] ?? usual);
const program = (name) => join(root, "build/test/programs", name);
const mb = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
const wrong = [];
const check = (holds, text) => {
  console.log(`${holds ? "ok   " : "WRONG"} ${text}`);
  if (!holds) wrong.push(text);
};

const home = mkdtempSync(join(tmpdir(), "drover-load-"));
const child = spawn(process.execPath, [join(root, "dist/cli/main.js"), "serve", "--port", "0", "--home", home], {
  stdio: ["ignore", "ignore", "inherit"],
});
const { url } = await ready();
const token = readFileSync(join(home, "token"), "utf8").trim();
const headers = { authorization: `Bearer ${token}` };

await parts();
await call("POST", "/api/v0/shutdown", { stop_all: true });
await new Promise((done) => (child.exitCode === null ? child.on("exit", done) : done()));
rmSync(home, { recursive: true, force: true });
console.log(wrong.length === 0 ? "load: all held" : `load: ${wrong.length} wrong`);
process.exit(wrong.length === 0 ? 0 : 1);

async function parts() {
  await many(200, 8, () => start({ command: "true", wait: {} })); // warm up before memory is compared
  if (size("rest", 1000)) await atRest(size("rest", 1000));
  if (size("sequence", 10_000)) await oneAfterAnother(size("sequence", 10_000));
  if (size("readers", 50)) await slowReaders(size("readers", 50));
  if (size("gigabytes", 5)) await endless(size("gigabytes", 5));
}

async function atRest(count) {
  const before = rss();
  const ids = [];
  await many(count, 16, async () => ids.push((await start({ argv: ["sleep", "600"] })).id));
  const grown = rss() - before;
  check(grown < 64 << 20, `${count} processes at rest: the daemon grew by ${mb(grown)}`);
  const list = await call("GET", "/api/v0/processes/list?limit=1000");
  check(list.processes.filter((p) => p.running).length === Math.min(count, 1000), `the list shows all that run`);
  let stopped = 0;
  await many(count, 16, async (i) => {
    if ((await call("POST", `/api/v0/processes/${ids[i]}/stop`, { signals: [{ signal: "KILL" }] })).stopped) stopped++;
  });
  check(stopped === count, `${stopped} of ${count} were stopped`);
}

async function oneAfterAnother(count) {
  const before = rss();
  let right = 0;
  for (let i = 0; i < count; i++) {
    const answer = await start({ command: `echo ${i}; exit ${i % 200}`, wait: { timeout_ms: 30_000 } });
    if (answer.wait?.exit_code === i % 200 && answer.wait.output === `${i}\n`) right++;
  }
  check(right === count, `${right} of ${count} started one after another gave their own output and code`);
  const grown = rss() - before;
  check(grown < 64 << 20, `the daemon grew by ${mb(grown)}`);
}

async function slowReaders(count) {
  const bytes = 64 << 20;
  const print = `${program("prints-bytes")} ${bytes}`;
  const { id } = await start({ command: `${print}; read go; ${print}; sleep 600`, stdin: { open: true } });
  const began = performance.now();
  const sockets = await Promise.all(Array.from({ length: count }, () => slowReader(id)));
  const first = await call("POST", `/api/v0/processes/${id}/wait`, { for: { bytes }, cursor: 0, timeout_ms: 60_000 });
  check(
    first.fired === "bytes",
    `output was not held up by ${count} readers that do not read (${(performance.now() - began).toFixed(0)} ms)`,
  );
  await sleep(1000); // until the kernel's own buffers are full: from then on nothing may be kept for them
  const full = rss();
  await call("POST", `/api/v0/processes/${id}/stdin`, { data: "go\n" });
  const second = await call("POST", `/api/v0/processes/${id}/wait`, {
    for: { bytes: 2 * bytes },
    cursor: 0,
    timeout_ms: 60_000,
  });
  check(second.fired === "bytes", "nor the second time");
  const grown = rss() - full;
  check(
    grown < 16 << 20,
    `another ${mb(bytes)} of output for ${count} slow readers cost ${mb(grown)} (${mb(full)} in all)`,
  );
  for (const socket of sockets) socket.destroy();
  await call("POST", `/api/v0/processes/${id}/stop`, { signals: [{ signal: "KILL" }] });
}

/** Opens the stream and reads nothing. */
function slowReader(id) {
  return new Promise((done, fail) => {
    const request = get(`${url}/api/v0/processes/${id}/stream?from=0`, { headers }, (response) => {
      response.pause();
      done(response.socket);
    });
    request.on("error", fail);
  });
}

async function endless(gigabytes) {
  const bytes = gigabytes * 1e9;
  const before = rss();
  const answer = await start({ argv: [program("prints-bytes"), String(bytes)], wait: { timeout_ms: 600_000 } });
  check(answer.wait?.exit_code === 0, `${gigabytes} GB of output ended with ${answer.wait?.exit_code}`);
  const grown = rss() - before;
  check(grown < 16 << 20, `the daemon grew by ${mb(grown)}`);
  const info = await call("GET", `/api/v0/processes/${answer.id}`);
  const [from, to] = info.log.dropped[0] ?? [0, 0];
  check(
    info.log.end === bytes && info.log.kept_bytes === bytes - (to - from),
    `kept ${mb(info.log.kept_bytes)}, dropped [${from}, ${to}) of ${bytes}`,
  );
  for (const offset of [0, from - 4096, to, bytes - 4096]) {
    const part = await call("GET", `/api/v0/processes/${answer.id}/log?from=${offset}&limit=4096`);
    const expected = Array.from({ length: 4096 }, (_, i) => character(offset + i)).join("");
    check(part.from === offset && part.data === expected, `4096 bytes at ${offset} are right`);
  }
}

/** What prints-bytes writes at this offset. */
function character(offset) {
  return `${String(Math.floor(offset / 16)).padStart(15, "0")}\n`[offset % 16];
}

async function start(body) {
  return call("POST", "/api/v0/processes/start", body);
}

async function call(method, path, body) {
  const response = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const answer = await response.json();
  if (!response.ok) wrong.push(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function many(count, width, work) {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

function rss() {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) * 1024;
}

async function ready() {
  for (let i = 0; i < 1000; i++) {
    try {
      return JSON.parse(readFileSync(join(home, "daemon.json"), "utf8"));
    } catch {
      await sleep(10);
    }
  }
  throw new Error("the daemon did not become ready within 10 s");
}
