import { type Argument, Command } from "commander";
import { type Act, addGlobalOptions } from "./command.ts";
import { addAttach } from "./commands/attach.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addLogs } from "./commands/logs.ts";
import { addMcp } from "./commands/mcp.ts";
import { addPs } from "./commands/ps.ts";
import { addServe } from "./commands/serve.ts";
import { addShutdown } from "./commands/shutdown.ts";
import { addSignal } from "./commands/signal.ts";
import { addStart } from "./commands/start.ts";
import { addStatus } from "./commands/status.ts";
import { addStop } from "./commands/stop.ts";
import { addToken } from "./commands/token.ts";
import { addWait } from "./commands/wait.ts";

const help = `
An id may be written in full, as a prefix of four characters or more, or as the label.

Exit codes:
  0    done                                    5    the process is in the wrong state for that
  1    it failed                               6    the daemon cannot start here
  2    the command line or a value is wrong   70    a defect in Drover
  3    no such process, or several           124    \`wait\` ran out of time
  4    no daemon, or no access to it         125    \`wait\`, \`start --wait\`, \`attach\`: Drover failed
  \`wait\`, \`start --wait\` and \`attach\` exit with the process's own code, 128+n after signal n.`;

/** The whole command line as a tree; `act` decides how a command is run. */
export function createProgram(act: Act, version: string): Command {
  const program = new Command("drover")
    .description("Runs, watches and accounts for the processes of AI agents.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    // report.ts says what is wrong, in one form for every failure.
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: visibleGlobals, subcommandTerm })
    .addHelpText("after", help);
  program.commandsGroup("Processes:");
  for (const add of [addStart, addPs, addLogs, addAttach, addWait, addSignal, addStop]) add(program, act);
  program.commandsGroup("Daemon:");
  for (const add of [addServe, addStatus, addShutdown, addDoctor, addToken]) add(program, act);
  program.commandsGroup("Models:");
  addMcp(program, act);
  program.commandsGroup("Shell:");
  addCompletion(program, act);
  addGlobalOptions(program);
  return program;
}

/** Every command has options; saying so in each line of the list tells nothing. */
function subcommandTerm(command: Command): string {
  return [
    command.name(),
    ...command.registeredArguments.map((a) => (a.required ? `<${a.name()}${dots(a)}>` : `[${a.name()}${dots(a)}]`)),
  ].join(" ");
}

function dots(argument: Argument): string {
  return argument.variadic ? "..." : "";
}

function visibleGlobals(command: Command) {
  let root = command;
  while (root.parent) root = root.parent;
  return root === command ? [] : root.options.filter((o) => !o.hidden && o.long !== "--version");
}
