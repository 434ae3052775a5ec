import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HttpClient } from "./support/http-client.mjs";
import { residentKb } from "./support/proc.mjs";
import { interleave, quantile, sleep } from "./support/statistics.mjs";
import { startTrue } from "./support/work.mjs";

export const words = "the longest that one start holds the event loop (support/loop-gaps.mjs records it in the daemon)";

const ROUNDS = 20;
const STARTS = 10;
/** Until the compiler has done its work; the slow one, which waits in the kernel, has less of it. */
const WARM_UP = 6000;
const WARM_UP_SLOW = 300;
const isSlow = (name) => name === "child_process, 1 GB";
const NOBODY = "00000000-0000-4000-8000-000000000000";
/** After the answer a daemon may still write; that work belongs to the start. */
const AFTER_MS = 40;

export async function answer(bench) {
  const { report } = bench;
  const gapsFile = (name) => join(bench.directory, `gaps-${name}`);
  const variants = {
    child_process: await bench.startChildDaemon({ gapsFile: gapsFile("child") }),
    drover: await bench.startDrover({ gapsFile: gapsFile("drover") }),
    "child_process, 1 GB": await bench.startChildDaemon({ gapsFile: gapsFile("child-1gb"), residentMb: 1000 }),
    "drover, 1 GB": await bench.startDrover({ gapsFile: gapsFile("drover-1gb"), residentMb: 1000 }),
  };
  const files = ["child", "drover", "child-1gb", "drover-1gb"].map(gapsFile);
  const clients = {};
  for (const [name, daemon] of Object.entries(variants)) {
    clients[name] = await HttpClient.connect(daemon);
    for (let i = 0; i < (isSlow(name) ? WARM_UP_SLOW : WARM_UP); i++) await startTrue(clients[name]);
    process.kill(daemon.pid, "SIGSTOP"); // each keeps a core busy; only the one that is asked may run
  }
  const windows = await interleave(variants, ROUNDS, (daemon, name) => ask(daemon, () => startTrue(clients[name])));
  const refused = await interleave(variants, 10, (daemon, name) => ask(daemon, () => beRefused(clients[name])));
  const idle = await interleave(variants, 10, (daemon) => ask(daemon, () => undefined));

  const rows = [["longest hold of a start, µs", "RSS MB", "p50", "p99", "max", "p99 raw", "refused p50", "idle p99"]];
  const held = {};
  for (const [i, [name, daemon]] of Object.entries(variants).entries()) {
    const gaps = await collectGaps(daemon, files[i]);
    const holds = (those, withoutWaiting) => those[name].map((window) => longest(gaps, window, withoutWaiting));
    held[name] = holds(windows, true);
    const [p50, p99, max] = [0.5, 0.99, 1].map((p) => quantile(held[name], p));
    const raw = quantile(holds(windows, false), 0.99);
    const others = [quantile(holds(refused, true), 0.5), quantile(holds(idle, true), 0.99)];
    rows.push([name, residentKb(daemon.pid) / 1000, p50, p99, max, raw, ...others]);
    clients[name].close();
  }
  report.table(rows);
  const verdict = (measure, name) =>
    report.verdict({ measure, value: quantile(held[name], 0.99) / 1000, unit: "ms", atMost: 0.5 });
  verdict("held by one start, p99", "drover");
  verdict("held by one start at 1 GB resident, p99", "drover, 1 GB");
}

const nowUs = () => Number(process.hrtime.bigint()) / 1000;

/** A round: the daemon goes on, is asked, and stops again. Answers the windows of time that belong to each request. */
async function ask(daemon, request) {
  process.kill(daemon.pid, "SIGCONT");
  await sleep(AFTER_MS);
  const windows = [];
  for (let i = 0; i < STARTS; i++) {
    const from = nowUs();
    await request();
    await sleep(AFTER_MS);
    windows.push({ from, to: nowUs() });
  }
  process.kill(daemon.pid, "SIGSTOP");
  return windows;
}

/** The same way through HTTP, without a start at its end. */
async function beRefused(client) {
  await client.get(`/api/v0/processes/${NOBODY}/output`).catch((error) => {
    if (!error.message.startsWith("HTTP 404")) throw error;
  });
}

async function collectGaps(daemon, file) {
  process.kill(daemon.pid, "SIGCONT");
  process.kill(daemon.pid, "SIGUSR2");
  while (!existsSync(file)) await sleep(10);
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.map((line) => {
    const [endUs, gapUs, waitedUs] = line.split(" ").map(Number);
    return { endUs, gapUs, waitedUs };
  });
}

function longest(gaps, { from, to }, withoutWaiting) {
  const inside = gaps.filter((gap) => gap.endUs >= from && gap.endUs <= to);
  return inside.reduce((most, gap) => Math.max(most, gap.gapUs - (withoutWaiting ? gap.waitedUs : 0)), 0);
}
