import { program } from "./support/daemons.mjs";
import { HttpClient } from "./support/http-client.mjs";
import { interleave, median, quantile } from "./support/statistics.mjs";
import { START, startTrue } from "./support/work.mjs";

export const words = "from the exit of a process to the answer of a waiter that was blocked";

const ROUNDS = 250;
/** Until the compiler has done its work: starts, then waits, whose samples are left out. */
const WARM_UP_STARTS = 4000;
const WARM_UP_WAITS = 600;
/** Long enough for the waiter to be blocked well before the exit. */
const LIVES_MS = 15;

export async function answer(bench) {
  const { report } = bench;
  const variants = { child_process: await bench.startChildDaemon(), drover: await bench.startDrover() };
  const clients = {};
  for (const [name, daemon] of Object.entries(variants)) {
    clients[name] = await HttpClient.connect(daemon);
    for (let i = 0; i < WARM_UP_STARTS; i++) await startTrue(clients[name]);
    for (let i = 0; i < WARM_UP_WAITS; i++) await exitToAnswer(clients[name]);
  }
  const us = await interleave(variants, ROUNDS, async (_, name) => [await exitToAnswer(clients[name])]);
  for (const client of Object.values(clients)) client.close();

  const row = (name) => [name, ...[0, 0.5, 0.99].map((p) => quantile(us[name], p))];
  report.table([["exit to answer, µs", "min", "p50", "p99"], ...Object.keys(variants).map(row)]);
  const ratio = median(us.drover) / median(us.child_process);
  report.verdict({ measure: "against child_process, p50", value: ratio, unit: "×", atMost: 1.1 });
  report.verdict({ measure: "exit to answer, p50", value: median(us.drover) / 1000, unit: "ms", atMost: 2 });
}

/** The program prints the clock as its last act; this process reads the same clock when it is told. */
async function exitToAnswer(client) {
  const { id } = await client.post(START, { command: `exec ${program("stamp")} ${LIVES_MS}` });
  const { output } = await client.get(`/api/v0/processes/${id}/output?wait=true`);
  return Number(process.hrtime.bigint() - BigInt(output.trim())) / 1000;
}
