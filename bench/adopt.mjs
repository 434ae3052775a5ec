import { HttpClient } from "./support/http-client.mjs";
import { least, median, quantile, sleep } from "./support/statistics.mjs";
import { startSleeps } from "./support/work.mjs";

export const words = "1,000 processes live, the daemon is killed with -9 and started again";

const PROCESSES = 1000;
const ROUNDS = 5;

export async function answer(bench) {
  const { report } = bench;
  const home = bench.newHome();
  let daemon = await bench.startDrover({ home });
  const clients = await Promise.all(Array.from({ length: 16 }, () => HttpClient.connect(daemon)));
  await startSleeps(clients, PROCESSES);
  for (const client of clients) client.close();
  await sleep(500);

  const empty = [];
  const full = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    const plain = await bench.startDrover();
    empty.push(performance.now() - from);
    await plain.stop();
    await daemon.kill();
    const again = performance.now();
    daemon = await bench.startDrover({ home });
    full.push(performance.now() - again);
    await checkAlive(daemon);
  }
  const row = (name, ms) => [name, ...[0, 0.5, 1].map((p) => quantile(ms, p))];
  report.table([["from spawn to ready, ms", "min", "p50", "max"], row("empty home", empty), row("1,000 alive", full)]);
  const added = (median(full) - least(empty)) / 1000;
  report.verdict({
    measure: "adoption of 1,000, p50, over a start in an empty home",
    value: added,
    unit: "s",
    atMost: 2,
  });
}

async function checkAlive(daemon) {
  const client = await HttpClient.connect(daemon);
  const { processes } = await client.get(`/api/v0/processes/list?limit=${PROCESSES}`);
  client.close();
  const running = processes.filter((process) => process.state === "running").length;
  if (running !== PROCESSES) throw new Error(`${running} of ${PROCESSES} are known to run`);
}
