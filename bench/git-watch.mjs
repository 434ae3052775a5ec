import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { WebSocket } from "ws";
import { placesOf } from "../dist/git/find-repository.js";
import { Git } from "../dist/git/run-git.js";
import { SnapshotReader } from "../dist/git/snapshot.js";
import { HttpClient } from "./support/http-client.mjs";
import { cpuNs, residentKb } from "./support/proc.mjs";
import { interleave, median, quantile, sleep } from "./support/statistics.mjs";
import { START } from "./support/work.mjs";

export const words =
  "watching git repositories, against the original's way: six processes a scan and one for each untracked file";

const ROUNDS = 15;
const FILES = 50_000;
const UNTRACKED = 20;
/** Longer than the slow scan that is made although nothing was told. */
const IDLE_MS = 65_000;
const REST_MS = 15_000;
const CHANGES = 15;
const CONNECTIONS = 100;
/** The original looks every 5 s. */
const ORIGINAL_EVERY_S = 5;
/** Of a scan with a change. The original lets git write the index, which saves its next scan some work; Drover never does. */
const MOST_COST = 0.8;
const TICKS_PER_S = 100;
const run = promisify(execFile);

export async function answer(bench) {
  const { report, directory } = bench;
  const small = createRepository(join(directory, "git-small"), 2_000);
  const large = createRepository(join(directory, "git-large"), FILES);
  const costs = {};
  for (const [name, root] of Object.entries({ "2,000 files": small, "50,000 files": large })) {
    costs[name] = await compareScans(report, name, root);
  }
  await watchLarge(bench, large, costs["50,000 files"].original);
  await watchByMany(bench, small);
}

/** One scan after a change, and one without; the original's knows no difference. */
async function compareScans(report, name, root) {
  const places = await placesOf(root);
  const git = new Git(process.env);
  const reader = new SnapshotReader(git);
  let content = 0;
  const edit = () => writeFileSync(join(root, "d0/f0"), `changed ${++content}\n`);
  const variants = {
    async original() {
      edit();
      await scanAsTheOriginal(root);
    },
    async changed() {
      edit();
      await reader.read(places);
    },
    async unchanged() {
      await reader.read(places);
    },
  };
  await variants.changed();
  // Younger files are read again, because the kernel's clock is coarse.
  const samples = await interleave(variants, ROUNDS, async (scan, variant) => {
    await sleep(60);
    if (variant === "unchanged") await scan();
    const before = { cpu: ownCpuMs(), started: git.started };
    const from = performance.now();
    await scan();
    return [{ ms: performance.now() - from, cpu: ownCpuMs() - before.cpu, started: git.started - before.started }];
  });
  const row = (label, key, processes) => {
    const wall = samples[key].map((sample) => sample.ms);
    const cpu = samples[key].reduce((sum, sample) => sum + sample.cpu, 0) / ROUNDS;
    return [label, processes ?? median(samples[key].map((s) => s.started)), quantile(wall, 0), median(wall), cpu];
  };
  const rows = [
    row("original's way", "original", 6 + UNTRACKED),
    row("Drover, something changed", "changed"),
    row("Drover, nothing changed", "unchanged"),
  ];
  report.table([[`one scan, ${name}`, "processes", "min ms", "p50 ms", "CPU ms"], ...rows]);
  report.verdict({
    measure: `CPU of a scan with a change against the original's, ${name}`,
    value: rows[1][4] / rows[0][4],
    unit: "×",
    atMost: MOST_COST,
  });
  return { original: rows[0][4] };
}

async function watchLarge(bench, root, originalMs) {
  const { report } = bench;
  const daemon = await bench.startDrover();
  const chat = randomUUID();
  await touch(daemon, root, chat);
  await sleep(2_000);
  const unwatched = cpuNs(daemon.pid);
  await sleep(REST_MS);
  const rest = (cpuNs(daemon.pid) - unwatched) / 1e6 / REST_MS;
  const from = performance.now();
  const watcher = await watch(daemon, chat);
  await watcher.until((entry) => entry.repo_root === root);
  const first = performance.now() - from;
  await sleep(8_000);
  const before = { own: cpuNs(daemon.pid), all: cpuTicks(daemon.pid) };
  await sleep(IDLE_MS);
  const own = (cpuNs(daemon.pid) - before.own) / 1e6 / IDLE_MS;
  const all = ((cpuTicks(daemon.pid) - before.all) / TICKS_PER_S) * (1000 / IDLE_MS);

  const latencies = [];
  for (let i = 0; i < CHANGES; i++) {
    const name = `d${(i * 37) % 500}/f${i}`;
    const changedAt = performance.now();
    writeFileSync(join(root, name), `latency ${i}\n`);
    await watcher.until((entry) => entry.unified_diff?.includes(`+latency ${i}\n`));
    latencies.push(performance.now() - changedAt);
    await sleep(i % 2 ? 1_500 : 0);
  }
  watcher.close();
  const originalShare = originalMs / 1000 / ORIGINAL_EVERY_S;
  report.table([
    ["50,000 files, one connection", "value"],
    ["first message, ms", first],
    ["idle CPU of a daemon that watches nothing, % of a core", rest * 100],
    ["idle CPU of the daemon, % of a core", own * 100],
    ["idle CPU with its gits, % of a core", all * 100],
    ["the original's, % of a core (a scan in 5 s)", originalShare * 100],
    ["change to message, ms p50", median(latencies)],
    ["change to message, ms max", quantile(latencies, 1)],
  ]);
  report.verdict({
    measure: "idle CPU on 50,000 files, gits included",
    value: all * 100,
    unit: "% of a core",
    atMost: 1,
  });
  report.verdict({
    measure: "change to message on 50,000 files, longest",
    value: quantile(latencies, 1),
    unit: "ms",
    atMost: 1500,
  });
}

/** A hundred connections to a repository whose diff fills its bound. */
async function watchByMany(bench, root) {
  const { report } = bench;
  const daemon = await bench.startDrover();
  const chat = randomUUID();
  await touch(daemon, root, chat);
  const one = await watch(daemon, chat);
  await one.until(() => true);
  writeFileSync(join(root, "big"), "a line of some length that is new\n".repeat(80_000));
  await one.until((entry) => entry.files?.some((file) => file.path === "big"));
  await sleep(3_000);
  const before = residentKb(daemon.pid);
  const many = await Promise.all(Array.from({ length: CONNECTIONS }, () => watch(daemon, chat)));
  await Promise.all(many.map((watcher) => watcher.until(() => true)));
  await sleep(2_000);
  const all = residentKb(daemon.pid);
  for (let i = 0; i < 5; i++) {
    writeFileSync(join(root, "d0/f1"), `round ${i}\n`);
    await Promise.all(many.map((watcher) => watcher.until((entry) => entry.unified_diff?.includes(`+round ${i}\n`))));
  }
  await sleep(2_000);
  const after = residentKb(daemon.pid);
  for (const watcher of [one, ...many]) watcher.close();
  report.table([
    ["100 connections, diff of 2.7 MB", "MB resident"],
    ["one connection", before / 1024],
    ["101 connections, each told everything", all / 1024],
    ["after five changes told to all", after / 1024],
  ]);
  report.verdict({
    measure: "memory of 100 more connections",
    value: (after - before) / 1024,
    unit: "MB",
    atMost: 200,
  });
}

/** A chat's process in the repository makes it one of the chat's. */
async function touch(daemon, root, chat) {
  const response = await fetch(daemon.url + START, {
    method: "POST",
    headers: { authorization: `Bearer ${daemon.token}`, "coder-chat-id": chat },
    body: JSON.stringify({ command: "true", workdir: root, wait: { for: { exit: true } } }),
  });
  if (!response.ok) throw new Error(await response.text());
  const client = await HttpClient.connect(daemon);
  client.close();
  await sleep(200);
}

async function watch(daemon, chat) {
  const url = `${daemon.url.replace("http", "ws")}/api/v0/git/watch?chat_id=${chat}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${daemon.token}` }, perMessageDeflate: false });
  let entries = [];
  let wake = () => {};
  socket.on("message", (data) => {
    entries.push(...(JSON.parse(data).repositories ?? []));
    wake();
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const until = async (holds) => {
    const deadline = performance.now() + 30_000;
    while (!entries.some(holds)) {
      if (performance.now() > deadline) throw new Error("no such message came within 30 s");
      await new Promise((resolve) => {
        wake = resolve;
        setTimeout(resolve, 1_000);
      });
    }
    entries = [];
  };
  return { until, close: () => socket.terminate() };
}

/** What spec/process-api.md, section 4, says of a scan. */
async function scanAsTheOriginal(root) {
  const git = (...args) => run("git", ["-C", root, ...args], { maxBuffer: 1 << 26 }).catch((error) => error);
  await git("rev-parse", "--show-toplevel");
  await git("symbolic-ref", "--short", "HEAD");
  await git("config", "--get", "remote.origin.url");
  await git("rev-parse", "--verify", "HEAD");
  await git("diff", "HEAD");
  const { stdout } = await git("ls-files", "--others", "--exclude-standard");
  for (const name of stdout.trim().split("\n")) await git("diff", "--no-index", "--", "/dev/null", name);
}

function createRepository(root, files) {
  mkdirSync(root, { recursive: true });
  const git = (...args) =>
    execFileSync("git", ["-C", root, "-c", "user.name=b", "-c", "user.email=b@example.org", ...args]);
  git("init", "-q", "-b", "main");
  const folders = Math.max(20, files / 100);
  for (let d = 0; d < folders; d++) mkdirSync(join(root, `d${d}`));
  for (let i = 0; i < files; i++) {
    writeFileSync(join(root, `d${i % folders}/f${Math.floor(i / folders)}`), `file ${i}\n`.repeat(20));
  }
  git("add", "-A");
  git("commit", "-q", "-m", "all");
  for (let i = 0; i < UNTRACKED; i++) writeFileSync(join(root, `new${i}`), "new\n".repeat(50));
  return root;
}

/** Of this program and of the children it has waited for. */
const ownCpuMs = () =>
  process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000 + childTicks("self") * (1000 / TICKS_PER_S);

const cpuTicks = (pid) =>
  fields(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks), 0);
const childTicks = (pid) =>
  fields(pid)
    .slice(13, 15)
    .reduce((sum, ticks) => sum + Number(ticks), 0);

/** From the state on (proc(5)); utime, stime, cutime and cstime are 11 to 14. */
function fields(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
