import { type Command, Option } from "commander";
import type { Act } from "../command.ts";
import { resolveId, shortId } from "../ids.ts";

interface SignalOptions {
  scope?: "group" | "leader" | "tree";
}

export function addSignal(program: Command, act: Act): void {
  program
    .command("signal")
    .summary("send a signal")
    .description(
      "Send a signal (INT, SIGHUP, 10, …) to a process.\nTo end one with everything it started, use `drover stop`.",
    )
    .argument("<id>", "id, prefix or label")
    .argument("<signal>", "name or number")
    .addOption(
      new Option("--scope <whom>", "its process group, its leader alone, or all descendants")
        .choices(["group", "leader", "tree"])
        .default(undefined, "group"),
    )
    .action(
      act(async ({ output, connect }, options: SignalOptions, text: string, signal: string) => {
        const client = await connect();
        const id = await resolveId(client, text);
        const answer = await client.processes.signal(id, {
          signal,
          ...(options.scope ? { scope: options.scope } : {}),
        });
        if (output.json) output.value(answer);
        else output.hint(`${shortId(id)}: sent; reached ${answer.reached}`);
      }),
    );
}
