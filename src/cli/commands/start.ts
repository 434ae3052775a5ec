import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { Fault, type ProcessId, type StartAnswer } from "../../contract/index.ts";
import type { Client } from "../../sdk/index.ts";
import { type Act, type Context, wholeNumber } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { feedStdin } from "../feeding.ts";
import { shortId } from "../ids.ts";
import { interruption } from "../interruption.ts";
import { followLog } from "../log-following.ts";
import { parseSize } from "../size.ts";
import { addVariable, type StartOptions, toStartRequest } from "../start-request.ts";
import { describeEnd } from "../state.ts";
import { reportEnd, waitForCondition } from "../waiting.ts";

const help = `
Words after -- are run as they are, without a shell:  drover start -- npm run dev
For pipes, globs and variables use -c:                drover start -c 'make 2>&1 | tee log'
Directory: where you are. Environment: the daemon's, plus --env.

Exit codes with --wait: the process's own; 128+n when signal n ended it; 127 and 126 when the command cannot be found
or executed; 125 when Drover failed. Ctrl-C then ends only the waiting.`;

export function addStart(program: Command, act: Act): void {
  program
    .command("start")
    .summary("start a process")
    .description("Start a process and print its id. It outlives this command, the terminal and the daemon.")
    .argument("[words...]", "the command and its arguments")
    .usage("[options] -- CMD [ARG...]\n       drover start [options] -c TEXT")
    .option("-c, --command <text>", "a text for the shell, instead of words")
    .option("-t, --tty", "give it a terminal (see `drover attach`)")
    .option("-i, --interactive", "keep its stdin open for `drover attach`")
    .option("-l, --label <label>", "a name to use instead of the id")
    .option("-w, --workdir <dir>", "where it runs")
    .option("-e, --env <name[=value]>", "a variable; without a value yours is passed on", addVariable)
    .option("--shell <shell>", "sh (default), bash, another name or a path; with -c")
    .option("--login", "as a login shell; with -c")
    .option("--stdin <text>", "text for its stdin; - passes yours on")
    .option("--timeout <time>", "end it after this long", parseDuration)
    .option("--idle-timeout <time>", "end it after this long without output", parseDuration)
    .option("--grace <time>", "between TERM and KILL when it is ended (default: 5s)", parseDuration)
    .addOption(
      new Option("--streams <how>", "keep stdout and stderr apart, or in their exact order").choices([
        "merged",
        "split",
      ]),
    )
    .option("--memory <size>", "most memory of it and its descendants", parseSize)
    .option("--pids <n>", "most processes of it and its descendants", wholeNumber)
    .option("--client-token <token>", "repeat safely: the same token gives the same process")
    .option("--chat <id>", "the chat it belongs to")
    .option("--wait", "print its output and wait for its end")
    .option("-q, --quiet", "print only the full id; with --wait no output")
    .passThroughOptions()
    .addHelpText("after", help)
    .action(act(start, { asProcess: (options) => options["wait"] === true }));
}

async function start(context: Context, options: StartOptions, words: string[]): Promise<number> {
  const { settings, output } = context;
  const isLocal = settings.url === undefined;
  const request = toStartRequest(options, words, {
    workdir: isLocal ? resolve(options.workdir ?? ".") : options.workdir,
    size: output.size,
    term: output.isTerminal ? settings.term : undefined,
    variable: settings.variable,
  });
  const client = await context.connect({ chat: options.chat });
  const answer = await client.processes.start(request).catch((error: unknown) => {
    throw isShellText(error, words) ? withShellAdvice(error) : error;
  });
  const id = answer.id as ProcessId;
  if (!options.wait) showStarted(context, answer, options);
  const fed = options.stdin === "-" ? feedStdin(client, id, process.stdin) : Promise.resolve();
  if (options.wait) return waitForEnd(context, client, answer, options);
  await fed;
  return 0;
}

function showStarted({ output }: Context, answer: StartAnswer, options: StartOptions): void {
  if (output.json) return output.value(answer);
  if (options.quiet || !output.isTerminal) return output.line(answer.id);
  const id = shortId(answer.id);
  output.line(id);
  const name = options.label ?? id;
  const next = options.tty || options.interactive ? `drover attach ${name}` : `drover logs -f ${name}`;
  output.hint(answer.attached ? `was started before by this token; ${next}` : next);
}

async function waitForEnd(
  context: Context,
  client: Client,
  answer: StartAnswer,
  options: StartOptions,
): Promise<number> {
  const { output } = context;
  const id = answer.id as ProcessId;
  const interrupted = interruption();
  if (options.quiet && !output.json) output.line(id);
  const { signal } = interrupted;
  try {
    if (!options.quiet && !output.json) {
      await followLog(context, client, { id, from: 0, signal, view: "raw", untilExit: true });
    }
    const end = await waitForCondition(client, id, { for: { exit: true }, cursor: 0, signal });
    if (output.json) output.value({ ...answer, wait: end });
    else output.hint(`${shortId(id)}  ${describeEnd(end)}`);
    return await reportEnd(client, id, end, output);
  } catch (error) {
    if (!signal.aborted) throw error;
    output.afterInterrupt();
    output.note(`drover: ${shortId(id)} keeps running; \`drover wait ${shortId(id)}\` waits again`);
    return await interrupted.raise();
  }
}

/** One word with blanks or shell characters that cannot be found is a text that was meant for a shell. */
function isShellText(error: unknown, words: readonly string[]): error is Fault {
  return (
    error instanceof Fault &&
    error.code === "process/command-not-found" &&
    words.length === 1 &&
    /[\s|&;<>()$`*?]/.test(words[0] ?? "")
  );
}

function withShellAdvice(fault: Fault): Fault {
  return new Fault(fault.code, fault.message, {
    detail: "To give a text to the shell, use -c: drover start -c 'TEXT'",
    cause: fault,
  });
}
