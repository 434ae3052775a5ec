import { Argument, type Command } from "commander";
import { Fault } from "../../contract/index.ts";
import type { Act } from "../command.ts";
import { completionScript, NAMES_COMMAND, type Shell, shells } from "../completion.ts";
import { shortId } from "../ids.ts";

export function addCompletion(program: Command, act: Act): void {
  program
    .command("completion")
    .summary("print a completion script for your shell")
    .description(
      'Print a completion script.\n\n  bash   source <(drover completion bash)\n  zsh    drover completion zsh > "${fpath[1]}/_drover"\n  fish   drover completion fish > ~/.config/fish/completions/drover.fish',
    )
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(shells))
    .action(
      act(async ({ output }, _options: object, shell: Shell) =>
        output.line(completionScript(program, shell).trimEnd()),
      ),
    );
  program.command(NAMES_COMMAND, { hidden: true }).action(
    act(async ({ output, connect }) => {
      // Asked at every press of the tab key: silent and without side effects.
      try {
        const client = await connect({ spawn: false });
        const { processes } = await client.processes.list({});
        for (const p of processes) output.line(p.label && /^[\w.-]+$/.test(p.label) ? p.label : shortId(p.id));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
      }
    }),
  );
}
