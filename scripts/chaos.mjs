// usage: build/test/reaper node scripts/chaos.mjs [--kills 200] [--width 50] [--seed N]
//
// Kills the daemon with SIGKILL at random moments while WIDTH processes start, talk, end, are signalled and are stopped. Every call
// is repeated until it is answered, as a client would. At the end nothing may be lost: every acknowledged process is there under
// its id, its numbered lines are whole, its exit code is the true one, none ran twice, nothing that was stopped still runs.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values } = parseArgs({
  options: { kills: { type: "string" }, width: { type: "string" }, seed: { type: "string" } },
});
const kills = Number(values.kills ?? 200);
const width = Number(values.width ?? 50);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const home = mkdtempSync(join(tmpdir(), "drover-chaos-"));
const marks = join(home, "marks");
const wrong = [];
const random = generator(seed);
const between = (low, high) => low + Math.floor(random() * (high - low));

let daemon;
let done = false;
let retries = 0;

console.log(`chaos: ${kills} kills, ${width} processes at a time, seed ${seed}`);
mkdirSync(marks);
// Everything is looked at in the end, so nothing may be too old by then.
writeFileSync(join(home, "config.json"), '{"keep_per_chat":1000000}', { mode: 0o600 });
const killer = killAgainAndAgain();
const jobs = [];
await Promise.all(Array.from({ length: width }, (_, i) => lane(i)));
await killer;
const living = livingIds();
for (const job of jobs) await verify(job);
await end();
const by = (kind) => jobs.filter((j) => j.plan === kind).length;
console.log(
  `chaos: ${jobs.length} processes (${by("natural")} ended by themselves, ${by("stop")} stopped, ${by("signal")} signalled), ${retries} calls repeated, ${wrong.length} wrong`,
);
for (const line of wrong.slice(0, 20)) console.log(`  ${line}`);
rmSync(home, { recursive: true, force: true });
process.exit(wrong.length === 0 ? 0 : 1);

/** One after another until the killing is over, so that WIDTH are in flight. */
async function lane(lane) {
  for (let turn = 0; !done && turn < 1000; turn++) {
    const name = `${lane}-${turn}`;
    const plan = ["natural", "natural", "stop", "signal"][between(0, 4)];
    const lines = plan === "natural" ? between(5, 80) : 5000;
    const job = { name, plan, lines, code: between(0, 120) };
    const program = join(root, "build/test/programs/prints-lines");
    const command = `echo run >> ${join(marks, name)}; exec ${program} ${lines} ${between(5, 40)} ${job.code}`;
    const request = { command, client_token: name, label: name };
    job.id = (await call("POST", "start", request)).id;
    jobs.push(job);
    const again = await call("POST", "start", request);
    if (again.id !== job.id || again.attached !== true) wrong.push(`${name}: a repeated start gave ${again.id}`);
    await sleep(between(0, 600));
    if (plan === "stop")
      job.answer = await call("POST", `${job.id}/stop`, { signals: [{ signal: "TERM", wait_ms: 500 }] });
    if (plan === "signal") await call("POST", `${job.id}/signal`, { signal: "terminate" }, [409]);
    job.end = await untilExit(job);
  }
}

async function untilExit(job) {
  for (;;) {
    const answer = await call("GET", `${job.id}/output?wait=true`);
    if (!answer.running) return answer;
  }
}

async function verify(job) {
  const info = await call("GET", job.id);
  const say = (text) => wrong.push(`${job.name} (${job.plan}, ${job.id}): ${text}`);
  if (info.state !== "exited") say(`state is ${info.state}: ${info.evidence}`);
  // A stop or signal that a dying daemon kept from coming through for half a minute finds a process that ended by itself.
  const isNatural = job.plan === "natural" || info.signal === undefined;
  if (isNatural && info.exit_code !== job.code) say(`exit code ${info.exit_code} instead of ${job.code}`);
  if (!isNatural && info.signal !== "SIGTERM") say(`ended by ${info.signal} instead of SIGTERM`);
  if (job.plan === "stop" && !job.answer?.stopped) say("stop did not say stopped");
  const text = await wholeLog(job.id);
  const lines = text.split("\n").slice(0, -1);
  const broken = lines.findIndex((line, i) => line !== `line ${i + 1}`);
  if (broken >= 0) say(`line ${broken} reads ${JSON.stringify(lines[broken])}`);
  if (isNatural && lines.length !== job.lines) say(`${lines.length} lines instead of ${job.lines}`);
  const runs = existsSync(join(marks, job.name))
    ? readFileSync(join(marks, job.name), "utf8").trim().split("\n").length
    : 0;
  if (runs !== 1) say(`ran ${runs} times`);
  if (living.has(job.id)) say(`still running as pid ${living.get(job.id)}`);
}

async function wholeLog(id) {
  let text = "";
  for (let from = 0; ; ) {
    const part = await call("GET", `${id}/log?from=${from}`);
    text += part.data;
    if (part.next >= part.end) return text;
    from = part.next;
  }
}

/** Ids in the environments of everything that lives. */
function livingIds() {
  const found = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const id = /DROVER_PROCESS_ID=([0-9a-f-]{36})/.exec(readFileSync(`/proc/${pid}/environ`, "latin1"))?.[1];
      if (id) found.set(id, pid);
    } catch {
      // gone, or not ours to read
    }
  }
  return found;
}

async function killAgainAndAgain() {
  for (let i = 0; i < kills; i++) {
    start();
    if (random() < 0.8) await untilReady();
    await sleep(between(0, 700));
    process.kill(daemon.pid, "SIGKILL");
    await daemon.ended;
    if ((i + 1) % 20 === 0) console.log(`chaos: ${i + 1} kills, ${jobs.length} started`);
  }
  start();
  await untilReady();
  done = true;
}

function start() {
  const child = spawn(process.execPath, [join(root, "dist/cli/main.js"), "serve", "--port", "0", "--home", home], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.on(
    "data",
    (text) => /"level":"error"/.test(text) && wrong.push(`daemon said ${String(text).slice(0, 400)}`),
  );
  daemon = { pid: child.pid, ended: new Promise((resolve) => child.on("exit", resolve)) };
}

async function untilReady() {
  for (let i = 0; i < 1000; i++) {
    if (address()?.pid === daemon.pid) return;
    await sleep(10);
  }
  throw new Error("the daemon did not become ready within 10 s");
}

function address() {
  try {
    return JSON.parse(readFileSync(join(home, "daemon.json"), "utf8"));
  } catch {
    return undefined; // not there yet
  }
}

/** Repeats until it is answered: a killed daemon is no answer. */
async function call(method, path, body, accepted = []) {
  for (let i = 0; i < 600; i++) {
    try {
      const token = readFileSync(join(home, "token"), "utf8").trim();
      const response = await fetch(`${address().url}/api/v0/processes/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const answer = await response.json();
      if (response.ok || accepted.includes(response.status)) return answer;
      if (response.status !== 503) {
        wrong.push(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
        return answer;
      }
    } catch {
      retries++; // the daemon is away
    }
    await sleep(between(20, 60));
  }
  throw new Error(`${method} ${path} was never answered`);
}

async function end() {
  process.kill(daemon.pid, "SIGTERM");
  await daemon.ended;
}

/** mulberry32: small, and the same run for the same seed. */
function generator(from) {
  let a = from;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
