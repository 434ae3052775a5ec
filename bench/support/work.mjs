// The requests that several questions make.
import { crowd } from "./statistics.mjs";

export const START = "/api/v0/processes/start";

/** Start, exit and output in one call, checked. */
export async function startTrue(client) {
  const answer = await client.post(START, { command: "true", wait: { for: { exit: true } } });
  if (answer.wait?.exit_code !== 0 || answer.wait.output !== "")
    throw new Error(`wrong answer: ${JSON.stringify(answer)}`);
}

/** `count` processes that do nothing for an hour; answers their pids. */
export async function startSleeps(clients, count) {
  const pids = [];
  await crowd(count, clients.length, async (lane) => {
    const answer = await clients[lane].post(START, { argv: ["/bin/sleep", "3600"] });
    pids.push(answer.pid);
  });
  return pids;
}
