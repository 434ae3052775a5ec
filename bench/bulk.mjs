import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { drain, HttpClient } from "./support/http-client.mjs";
import { cpuNs, isAlive, residentKb } from "./support/proc.mjs";
import { least, median, sleep } from "./support/statistics.mjs";
import { START } from "./support/work.mjs";

export const words = "1 GB of output";

const BYTES = 2 ** 30;
const ROUNDS = 5;
const sources = {
  zeros: `head -c ${BYTES} /dev/zero`,
  lines: `yes 0123456789012345678901234567890123456789 | head -c ${BYTES}`,
};
/** The default keeps 64 MiB of a log; this keeps all of it, as `cat > file` does. */
const keepAll = { log_bytes: 2 * BYTES, log_total_bytes: 16 * BYTES };

export async function answer(bench) {
  const whole = await open(bench, keepAll);
  const ring = await open(bench);
  await speed(bench, whole, ring);
  await reading(bench, whole, ring);
}

async function open(bench, config) {
  const daemon = await bench.startDrover({ config });
  return { ...daemon, client: await HttpClient.connect(daemon) };
}

async function speed({ report, directory }, whole, ring) {
  const rows = [["speed, MB/s", "best", "p50", "best against cat"]];
  const ratios = [];
  for (const [source, command] of Object.entries(sources)) {
    const ms = { cat: [], whole: [], ring: [] };
    for (let round = 0; round < ROUNDS; round++) {
      ms.cat.push(await settled(() => throughCat(command, join(directory, "cat"))));
      ms.whole.push(await settled(() => throughDrover(command, whole)));
      ms.ring.push(await settled(() => throughDrover(command, ring)));
    }
    const names = { cat: "| cat > file", whole: "drover, log of 2 GiB", ring: "drover, default log (64 MiB)" };
    for (const [key, name] of Object.entries(names)) {
      const rate = (time) => BYTES / 1e3 / time;
      rows.push([`${source} ${name}`, rate(least(ms[key])), rate(median(ms[key])), least(ms.cat) / least(ms[key])]);
    }
    ratios.push(least(ms.cat) / least(ms.whole), least(ms.cat) / least(ms.ring));
  }
  report.table(rows);
  report.verdict({
    measure: "speed against `| cat > file`, the slowest of the above",
    value: least(ratios),
    unit: "×",
    atLeast: 0.7,
  });
}

/** No write-back of the variant before runs into this one. */
async function settled(run) {
  execFileSync("sync");
  return await run();
}

function throughCat(command, file) {
  const from = performance.now();
  execFileSync("sh", ["-c", `${command} | cat > ${file}`]);
  const ms = performance.now() - from;
  rmSync(file);
  return ms;
}

async function throughDrover(command, daemon) {
  const from = performance.now();
  const { id, wait } = await daemon.client.post(START, { command, wait: { for: { exit: true }, timeout_ms: 600_000 } });
  const ms = performance.now() - from;
  if (wait.exit_code !== 0 || wait.cursor !== BYTES) throw new Error(`${wait.cursor} of ${BYTES} bytes arrived`);
  await daemon.client.delete(`/api/v0/processes/${id}`);
  return ms;
}

async function reading({ report }, whole, ring) {
  const unread = await measured(ring, sources.lines);
  const follow = (daemon) => (id) => drain(daemon, `/api/v0/processes/${id}/stream?from=0`);
  await measured(whole, sources.lines, follow(whole)); // the first follower also pays for the compiler
  const followed = await measured(whole, sources.lines, follow(whole));
  const ringFollowed = await measured(ring, sources.lines, follow(ring));
  const row = (name, it) => [name, it.wallMs, it.cpuMs, it.percent, it.grownMb, it.read / 1e6];
  report.table([
    ["daemon", "wall ms", "CPU ms", "% of a core", "memory grown, MB", "received, MB"],
    row("nobody reads", unread),
    row("one follower, log of 2 GiB", followed),
    row("one follower, default log", ringFollowed),
  ]);
  if (followed.read < BYTES) throw new Error(`the follower got ${followed.read} bytes of ${BYTES}`);
  report.verdict({ measure: "daemon CPU, nobody reads", value: unread.percent, unit: "% of a core", atMost: 0.5 });
  report.verdict({ measure: "daemon CPU, one follower", value: followed.percent, unit: "% of a core", atMost: 50 });
  const grown = Math.max(unread.grownMb, followed.grownMb, ringFollowed.grownMb);
  report.verdict({ measure: "daemon memory growth", value: grown, unit: "MB", atMost: 16 });
}

/** Counts from the answer of `start` to the end of the process and of its follower. */
async function measured(daemon, command, follow) {
  const { id, pid } = await daemon.client.post(START, { command });
  const [cpuFrom, residentFrom, from] = [cpuNs(daemon.pid), residentKb(daemon.pid), performance.now()];
  let isOver = false;
  const following = follow?.(id).finally(() => (isOver = true));
  let peakKb = residentFrom;
  while (follow ? !isOver : isAlive(pid)) {
    peakKb = Math.max(peakKb, residentKb(daemon.pid));
    await sleep(10);
  }
  const wallMs = performance.now() - from;
  const cpuMs = (cpuNs(daemon.pid) - cpuFrom) / 1e6;
  const read = (await following)?.bytes ?? 0;
  await daemon.client.get(`/api/v0/processes/${id}/output?wait=true`);
  await daemon.client.delete(`/api/v0/processes/${id}`);
  return { wallMs, cpuMs, percent: (cpuMs / wallMs) * 100, grownMb: ((peakKb - residentFrom) * 1024) / 1e6, read };
}
