import type { Command } from "commander";
import { Fault, type ProcessId } from "../../contract/index.ts";
import type { Client } from "../../sdk/index.ts";
import type { AttachEnd, AttachTo } from "../attach-terminal.ts";
import type { Act, Context } from "../command.ts";
import { feedStdin } from "../feeding.ts";
import { resolveId, shortId } from "../ids.ts";
import { interruption } from "../interruption.ts";
import { followLog } from "../log-following.ts";
import { describeEnd, exitCodeOf } from "../state.ts";
import { type DetachKey, parseDetachKey } from "../terminal.ts";

interface AttachOptions {
  readonly?: boolean;
  detachKey: DetachKey;
}

/** Shown of what a process without a terminal wrote before. */
const LINES_BEFORE = 20;

const help = `
With a terminal (start --tty): keys go to the process, its screen is shown and follows the size of yours.
Without one: its output is followed; when its stdin is open (start --interactive), what you type is sent line by line and
Ctrl-D closes it. Ctrl-C then ends only this command.

Exit code: the process's own when it ends, 128+n after signal n; 0 after detaching; 125 when Drover failed.`;

export function addAttach(program: Command, act: Act): void {
  program
    .command("attach")
    .summary("join the terminal of a process")
    .description("Join a process: see what it shows and type into it. Ctrl-] detaches; the process goes on.")
    .argument("<id>", "id, prefix or label")
    .option("--readonly", "only look; send neither keys nor size")
    .option(
      "--detach-key <key>",
      "the key that detaches: ctrl-] (default), ctrl-a, …, none",
      parseDetachKey,
      parseDetachKey("ctrl-]"),
    )
    .addHelpText("after", help)
    .action(act(attach, { asProcess: true }));
}

async function attach(context: Context, options: AttachOptions, text: string): Promise<number> {
  if (context.output.json)
    throw new Fault("request/invalid", "attach is for people; use `drover logs --json` in a program.");
  const client = await context.connect();
  const id = await resolveId(client, text);
  const info = await client.processes.get(id);
  const interrupted = interruption();
  try {
    const to: AttachTo = {
      info,
      readonly: options.readonly ?? false,
      detachKey: options.detachKey,
      signal: interrupted.signal,
    };
    const end = info.tty ? await joinTerminal(context, client, to) : await joinStreams(context, client, to);
    return sayEnd(context, id, text, end);
  } finally {
    interrupted.close();
  }
}

async function joinTerminal(context: Context, client: Client, to: AttachTo): Promise<AttachEnd> {
  if (to.info.running) context.output.hint(`attached; ${to.detachKey.name} detaches`);
  const { attachTerminal } = await import("../attach-terminal.ts");
  return attachTerminal(context, client, to);
}

async function joinStreams(context: Context, client: Client, { info, readonly, signal }: AttachTo): Promise<AttachEnd> {
  const { output } = context;
  const id = info.id as ProcessId;
  const sends = info.running && info.stdin === "open" && !readonly;
  if (sends) output.hint("attached; Ctrl-D closes its stdin, Ctrl-C detaches");
  else if (info.running) output.hint("attached, output only; Ctrl-C detaches");
  // Runs beside the output: a failure to write is told, and the output goes on.
  if (sends)
    feedStdin(client, id, process.stdin).catch((error: unknown) => output.note(`drover: ${(error as Error).message}`));
  const exit = await followLog(context, client, {
    id,
    from: 0,
    lines: LINES_BEFORE,
    signal,
    view: "raw",
    untilExit: true,
  });
  if (exit) return { how: "exited", exit };
  if (signal.aborted) output.afterInterrupt();
  return { how: signal.aborted ? "detached" : "cut" };
}

function sayEnd({ output }: Context, id: ProcessId, text: string, end: AttachEnd): number {
  switch (end.how) {
    case "exited":
      output.hint(`${shortId(id)}  ${describeEnd(end.exit)}`);
      return exitCodeOf(end.exit);
    case "detached":
      output.hint(`detached; drover attach ${text}`);
      return 0;
    case "cut":
      throw new Fault("client/unreachable", "the daemon went away; the process keeps running.");
  }
}
