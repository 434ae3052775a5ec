import { type Command, Option } from "commander";
import { Fault } from "../../contract/index.ts";
import { type Act, type Context, wholeNumber } from "../command.ts";
import { resolveId } from "../ids.ts";
import { interruption } from "../interruption.ts";
import { followLog } from "../log-following.ts";
import { type LogRange, readLog } from "../log-reading.ts";

interface LogsOptions {
  follow?: boolean;
  tail?: number;
  from?: number;
  text?: boolean;
  stream?: "stdout" | "stderr";
}

export function addLogs(program: Command, act: Act): void {
  program
    .command("logs")
    .summary("print the output of a process")
    .description("Print what a process wrote, byte for byte. Ctrl-C ends only this command, never the process.")
    .argument("<id>", "id, prefix or label")
    .option("-f, --follow", "go on with what it writes from now on, until its end")
    .option("-n, --tail <lines>", "only the last lines", wholeNumber)
    .option("--from <byte>", "from this byte on", wholeNumber)
    .addOption(new Option("--raw", "bytes as they were written (the default)").conflicts("text"))
    .option("--text", "without escape sequences, with carriage returns applied")
    .addOption(
      new Option("--stream <name>", "one stream of a process with `--streams split`").choices(["stdout", "stderr"]),
    )
    .action(act(logs));
}

async function logs(context: Context, options: LogsOptions, text: string): Promise<number> {
  if (options.tail !== undefined && options.from !== undefined) {
    throw new Fault("request/invalid", "--tail and --from cannot be used together.");
  }
  const client = await context.connect();
  const id = await resolveId(client, text);
  const interrupted = interruption();
  try {
    const range: LogRange = {
      id,
      from: options.from ?? 0,
      lines: options.tail,
      signal: interrupted.signal,
      view: options.text ? "text" : "raw",
      ...(options.stream ? { stream: options.stream } : {}),
    };
    if (options.follow) await followLog(context, client, range);
    else await readLog(context, client, range);
    return interrupted.signal.aborted ? await interrupted.raise() : 0;
  } finally {
    interrupted.close();
  }
}
