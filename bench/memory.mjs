import { spawn } from "node:child_process";
import { HttpClient } from "./support/http-client.mjs";
import { childrenOf, machineKb, parentOf, privateKb } from "./support/proc.mjs";
import { crowd, least, median, sleep, sum } from "./support/statistics.mjs";
import { startSleeps, startTrue } from "./support/work.mjs";

export const words = "1,000 processes at rest";

const PROCESSES = 1000;
const ROUNDS = 3;
const SETTLE_MS = 2500;
const LIST = `/api/v0/processes/list?limit=${PROCESSES}`;

export async function answer(bench) {
  const { report } = bench;
  const rounds = [];
  const lists = { ten: [], thousand: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const plain = await memoryOfPlainSleeps();
    const few = await openDaemon(bench);
    await startSleeps(few.clients, 10);
    rounds.push({ plain, ...(await memoryOfDrover(bench, few, lists)) });
    await closeDaemon(few);
  }
  const added = (what) => (round) => round.all[what] - round.plain[what];
  const kernel = added("kernel");
  report.table([
    ["KB for each of 1,000", "shims", "keeper", "daemon", "private sum", "kernel added", "available added"],
    ...rounds.map((it, i) => [
      `round ${i + 1}`,
      it.shims,
      it.keeper,
      it.daemon,
      total(it),
      kernel(it),
      added("available")(it),
    ]),
  ]);
  report.table([
    ["list, µs", "min", "p50"],
    ["of 10", least(lists.ten), median(lists.ten)],
    ["of 1,000", least(lists.thousand), median(lists.thousand)],
  ]);
  const mine = median(rounds.map(total)) / 1000;
  const unit = "MB";
  report.verdict({
    measure: "private memory each: shim, keeper and the daemon's growth",
    value: mine,
    unit,
    atMost: 0.1,
  });
  const whole = mine + median(rounds.map(kernel)) / 1000;
  report.verdict({ measure: "with the kernel's share", value: whole, unit, atMost: 0.2 });
  const ratio = median(lists.thousand) / median(lists.ten);
  report.verdict({ measure: "list of 1,000 against list of 10, p50", value: ratio, unit: "×", atMost: 10 });
}

const total = (round) => round.shims + round.keeper + round.daemon;

/** What each of the processes took of the machine since `before`. */
function takenSince(before) {
  const now = machineKb();
  return {
    available: (before.available - now.available) / PROCESSES,
    kernel: (now.kernel - before.kernel) / PROCESSES,
  };
}

async function memoryOfDrover(bench, few, lists) {
  const daemon = await openDaemon(bench);
  // Both the code and the heap reach their working size before the count begins.
  await crowd(300, daemon.clients.length, (lane) => startTrue(daemon.clients[lane]));
  await sleep(SETTLE_MS);
  const helpers = () => childrenOf(daemon.pid);
  const keeperBefore = sum(helpers().map(privateKb));
  const daemonBefore = privateKb(daemon.pid);
  const before = machineKb();
  const pids = await startSleeps(daemon.clients, PROCESSES);
  await sleep(SETTLE_MS);
  const each = (kb) => kb / PROCESSES;
  const facts = {
    all: takenSince(before),
    shims: each(sum([...new Set(pids.map(parentOf))].map(privateKb))),
    keeper: each(sum(helpers().map(privateKb)) - keeperBefore),
    daemon: each(privateKb(daemon.pid) - daemonBefore),
  };
  for (let i = 0; i < 60; i++) {
    await timeList(few.clients[0], 10, lists.ten);
    await timeList(daemon.clients[0], PROCESSES, lists.thousand);
  }
  await closeDaemon(daemon);
  return facts;
}

async function timeList(client, count, into) {
  const from = performance.now();
  const { processes } = await client.get(LIST);
  into.push((performance.now() - from) * 1000);
  if (processes.filter((process) => process.running).length !== count) throw new Error("the list is not whole");
}

async function openDaemon(bench) {
  const daemon = await bench.startDrover();
  return { ...daemon, clients: await Promise.all(Array.from({ length: 8 }, () => HttpClient.connect(daemon))) };
}

async function closeDaemon(daemon) {
  for (const client of daemon.clients) client.close();
  await daemon.stop();
  await sleep(SETTLE_MS);
}

/** What 1,000 sleeps take by themselves. */
async function memoryOfPlainSleeps() {
  const before = machineKb();
  const loop = `i=0; while [ $i -lt ${PROCESSES} ]; do /bin/sleep 3600 & i=$((i+1)); done; echo all; wait`;
  const shell = spawn("sh", ["-c", loop], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => shell.stdout.once("data", resolve));
  await sleep(SETTLE_MS);
  const taken = takenSince(before);
  const gone = new Promise((resolve) => shell.once("exit", resolve));
  process.kill(-Number(shell.pid), "SIGKILL");
  await gone;
  await sleep(SETTLE_MS);
  return taken;
}
