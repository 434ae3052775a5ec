import { HttpClient } from "./support/http-client.mjs";
import { crowd, interleave, median, quantile } from "./support/statistics.mjs";
import { startTrue } from "./support/work.mjs";

export const words = "starts a second (start, exit and output in one call), 16 clients";

const CLIENTS = 16;
const ROUNDS = 5;
/** Enough for a second or so; the slow one gets fewer. */
const STARTS = 400;
const STARTS_SLOW = 64;
/** Until the compiler has done its work in every variant; see start.mjs. */
const WARM_UP = 6000;
const isSlow = (name) => name === "child_process, 250 MB";

export async function answer(bench) {
  const { report } = bench;
  const variants = {
    child_process: await bench.startChildDaemon(),
    drover: await bench.startDrover(),
    "child_process, 250 MB": await bench.startChildDaemon({ residentMb: 250 }),
    "drover, 250 MB": await bench.startDrover({ residentMb: 250 }),
  };
  const clients = {};
  for (const [name, daemon] of Object.entries(variants)) {
    clients[name] = await Promise.all(Array.from({ length: CLIENTS }, () => HttpClient.connect(daemon)));
    await crowd(isSlow(name) ? STARTS_SLOW : WARM_UP, CLIENTS, (lane) => startTrue(clients[name][lane]));
  }
  const rates = await interleave(variants, ROUNDS, async (_, name) => {
    const count = isSlow(name) ? STARTS_SLOW : STARTS;
    return [(count / (await crowd(count, CLIENTS, (lane) => startTrue(clients[name][lane])))) * 1000];
  });
  for (const client of Object.values(clients).flat()) client.close();

  const row = (name) => [name, median(rates[name]), quantile(rates[name], 0), quantile(rates[name], 1)];
  report.table([["starts/s", "p50", "min", "max"], ...Object.keys(variants).map(row)]);
  const small = median(rates.drover) / median(rates.child_process);
  report.verdict({ measure: "against child_process, small daemons", value: small, unit: "×", atLeast: 2 });
  const large = median(rates["drover, 250 MB"]) / median(rates["child_process, 250 MB"]);
  report.verdict({ measure: "against child_process, 250 MB resident", value: large, unit: "×", atLeast: 10 });
}
