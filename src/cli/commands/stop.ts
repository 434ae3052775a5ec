import type { Command } from "commander";
import { Fault, type StopAnswer, type StopRequest } from "../../contract/index.ts";
import type { Client } from "../../sdk/index.ts";
import type { Act, Context } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { resolveId, shortId } from "../ids.ts";
import { oneLine } from "../one-line.ts";
import type { Output } from "../output.ts";
import { report } from "../report.ts";
import { describeEnd } from "../state.ts";
import { cut } from "../table.ts";
import { textWidthFor } from "../text-width.ts";

interface StopOptions {
  grace?: number;
  kill?: boolean;
}

export function addStop(program: Command, act: Act): void {
  program
    .command("stop")
    .summary("end processes with everything they started")
    .description(
      "End processes and all their descendants: TERM, then KILL after the grace. Returns when nothing is left.",
    )
    .argument("<id...>", "ids, prefixes or labels")
    .option(
      "--grace <time>",
      "between TERM and KILL (default: what the process was started with, else 5s)",
      parseDuration,
    )
    .option("--kill", "KILL at once")
    .action(
      act(async (context, options: StopOptions, texts: string[]) => {
        const client = await context.connect();
        const codes = await Promise.all(texts.map((text) => stopOne(context, client, text, toStopRequest(options))));
        return Math.max(...codes);
      }),
    );
}

export function toStopRequest(options: StopOptions): StopRequest {
  if (options.kill) return { signals: [{ signal: "KILL" }] };
  if (options.grace === undefined) return {};
  return { signals: [{ signal: "TERM", wait_ms: options.grace }, { signal: "KILL" }] };
}

/** One that fails does not keep the others from being stopped. */
async function stopOne({ output }: Context, client: Client, text: string, request: StopRequest): Promise<number> {
  try {
    const id = await resolveId(client, text);
    const answer = await client.processes.stop(id, request);
    if (output.json) output.record({ id, ...answer });
    else await show(id, answer, output);
    return answer.stopped ? 0 : 1;
  } catch (error) {
    if (error instanceof Fault) return report(error, output);
    throw error;
  }
}

async function show(id: string, answer: StopAnswer, output: Output): Promise<void> {
  const wasRunning = answer.ended.some((p) => p.by !== "exit");
  output.line(`${shortId(id)}  ${wasRunning ? "" : "had ended: "}${describeEnd(answer)}`);
  const wide = Math.max(0, ...answer.ended.map((p) => String(p.pid).length));
  const lines = answer.ended.map((p) => `  ${String(p.pid).padStart(wide)}  ${p.by.padEnd(8)}  ${oneLine(p.command)}`);
  const measure = await textWidthFor(lines);
  for (const line of lines) output.line(cut(line, output.width, measure));
  for (const p of answer.left) output.note(`  ${p.pid}  left: ${p.why}  ${oneLine(p.command)}`);
}
