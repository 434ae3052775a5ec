import { execFileSync } from "node:child_process";
import { program } from "./support/daemons.mjs";
import { HttpClient } from "./support/http-client.mjs";
import { mainThreadNs } from "./support/proc.mjs";
import { interleave, least, median, quantile } from "./support/statistics.mjs";
import { startTrue } from "./support/work.mjs";

export const words = "start, exit and output of `true` in one call, one after another";

const ROUNDS = 25;
const RUNS = 12;
/** Until the compiler has done its work in every variant: after 1,000 starts V8 still runs a part of Drover unoptimized. */
const WARM_UP = 6000;
const isSlow = (name) => name === "child_process, 250 MB";

export async function answer(bench) {
  const { report } = bench;
  const variants = {
    "C posix_spawn loop": undefined,
    child_process: await bench.startChildDaemon(),
    drover: await bench.startDrover(),
    "child_process, 250 MB": await bench.startChildDaemon({ residentMb: 250 }),
    "drover, 250 MB": await bench.startDrover({ residentMb: 250 }),
  };
  const clients = {};
  for (const [name, daemon] of Object.entries(variants)) {
    if (!daemon) continue;
    clients[name] = await HttpClient.connect(daemon);
    for (let i = 0; i < (isSlow(name) ? 100 : WARM_UP); i++) await startTrue(clients[name]);
  }
  const cpu = Object.fromEntries(Object.keys(clients).map((name) => [name, []]));
  const us = await interleave(variants, ROUNDS, async (daemon, name) => {
    if (!daemon) return spawnLoop();
    const from = mainThreadNs(daemon.pid);
    const samples = await timed(clients[name]);
    cpu[name].push((mainThreadNs(daemon.pid) - from) / 1000 / (RUNS + 1));
    return samples;
  });
  for (const client of Object.values(clients)) client.close();

  const floor = least(us["C posix_spawn loop"]);
  const row = (name) => {
    const [min, p50, p99] = [0, 0.5, 0.99].map((p) => quantile(us[name], p));
    return [name, min, p50, p99, min - floor, cpu[name] ? median(cpu[name]) : ""];
  };
  report.table([
    ["sh -c true, µs", "min", "p50", "p99", "min added", "event loop CPU"],
    ...Object.keys(variants).map(row),
  ]);
  const added = (least(us.drover) - floor) / 1000;
  report.verdict({ measure: "added to a C loop, minimum", value: added, unit: "ms", atMost: 0.9 });
  const times = median(us["child_process, 250 MB"]) / median(us["drover, 250 MB"]);
  report.verdict({ measure: "faster than child_process at 250 MB resident, p50", value: times, unit: "×", atLeast: 5 });
}

const spawnLoop = () =>
  execFileSync(program("spawn-loop"), [String(RUNS)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map(Number);

async function timed(client) {
  const us = [];
  await startTrue(client); // the caches are another variant's
  for (let i = 0; i < RUNS; i++) {
    const from = performance.now();
    await startTrue(client);
    us.push((performance.now() - from) * 1000);
  }
  return us;
}
