import type { Command } from "commander";
import type { WaitAnswer, WaitFor } from "../../contract/index.ts";
import { type Act, wholeNumber } from "../command.ts";
import { addCondition } from "../conditions.ts";
import { parseDuration } from "../duration.ts";
import { resolveId, shortId } from "../ids.ts";
import { oneLine } from "../one-line.ts";
import type { Output } from "../output.ts";
import { EXIT_TIMEOUT } from "../report.ts";
import { describeEnd } from "../state.ts";
import { reportEnd, waitForCondition } from "../waiting.ts";

interface WaitOptions {
  for?: WaitFor;
  timeout?: number;
  from?: number;
}

const help = `
Conditions (several: the first that holds ends the wait):
  exit                  it ended (the default)
  port:3000             it, or a descendant, listens there
  match:REGEX           its output has a match
  http:URL              the address answers below 500; http:3000/health is short for this machine
  idle:5s               no output for so long
  bytes:10k             so many bytes of output
  activity:NAME         busy, sleeping, listening, waiting_line, waiting_secret, waiting_keys, stopped

Exit codes:
  waiting for exit      the process's own code; 128+n when signal n ended it
  other conditions      0 when one held; when the process ended first, its own code (1 instead of 0)
  124                   the timeout passed
  125                   Drover failed, or how the process ended is not known (see stderr)`;

export function addWait(program: Command, act: Act): void {
  program
    .command("wait")
    .summary("wait for an exit, a port, a text, …")
    .description("Wait until a process ends, or until something is true of it.")
    .argument("<id>", "id, prefix or label")
    .option("--for <condition>", "what to wait for; may be given several times", addCondition)
    .option("--timeout <time>", "give up after this long (default: never)", parseDuration)
    .option("--from <byte>", "look at output from here on (default: the first byte)", wholeNumber)
    .addHelpText("after", help)
    .action(
      act(
        async ({ output, connect }, options: WaitOptions, text: string) => {
          const client = await connect();
          const id = await resolveId(client, text);
          const wanted = options.for ?? { exit: true };
          const answer = await waitForCondition(client, id, {
            for: wanted,
            cursor: options.from ?? 0,
            timeoutMs: options.timeout,
          });
          if (output.json) output.value(answer);
          else show(id, answer, wanted, output);
          if (answer.fired === "timeout") return EXIT_TIMEOUT;
          if (answer.fired !== "exit") return 0;
          const code = await reportEnd(client, id, answer, output);
          // 0 always means that what was waited for came true.
          return wanted.exit || code !== 0 ? code : 1;
        },
        { asProcess: true },
      ),
    );
}

function show(id: string, answer: WaitAnswer, wanted: WaitFor, output: Output): void {
  switch (answer.fired) {
    case "match":
      return output.line(oneLine(answer.match?.text ?? ""));
    case "timeout":
      output.note(`drover: timed out; ${shortId(id)} ${answer.running ? "still runs" : "has ended"}`);
      if (answer.port_held_by)
        output.note(`  Port ${wanted.port} is held by somebody else: ${oneLine(answer.port_held_by)}`);
      return;
    case "exit":
      if (wanted.exit) return output.hint(`${shortId(id)}  ${describeEnd(answer)}`);
      return output.note(`drover: ${shortId(id)} ended before that: ${describeEnd(answer)}`);
    case "port":
    case "http":
    case "idle":
    case "bytes":
    case "activity":
      return output.hint(`${shortId(id)}  ${answer.fired}`);
  }
}
