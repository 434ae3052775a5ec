import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { Fault } from "../../contract/index.ts";
import { type Act, type Context } from "../command.ts";

/** The daemon answers first and then closes; a second is ample for what remains. */
const CLOSE_MS = 10_000;

interface ShutdownOptions {
  stopAll?: boolean;
}

export function addShutdown(program: Command, act: Act): void {
  program
    .command("shutdown")
    .summary("end the daemon; processes keep running")
    .description("End the daemon. Processes keep running and the next daemon takes them over.")
    .option("--stop-all", "stop every process first")
    .action(act(shutdown));
}

async function shutdown({ settings, output, connect }: Context, options: ShutdownOptions): Promise<void> {
  const client = await connect({ spawn: false });
  const answer = await client.shutdown(options.stopAll ? { stop_all: true } : {});
  if (settings.url === undefined) await gone(settings.home);
  if (output.json) return output.value(answer);
  const parts = [
    ...(answer.stopped > 0 ? [`stopped ${answer.stopped}`] : []),
    answer.left_running > 0 ? `${answer.left_running} kept running` : "nothing left running",
  ];
  output.line(`daemon ended; ${parts.join(", ")}`);
}

/** Returns when the next command would find no daemon, so that `shutdown && serve` works. */
async function gone(home: string): Promise<void> {
  const { answers } = await import("../daemon-process.ts");
  const deadline = Date.now() + CLOSE_MS;
  while (await answers(home)) {
    if (Date.now() > deadline)
      throw new Fault("daemon/shutting-down", "the daemon still answers after it agreed to end.");
    await sleep(15);
  }
}
