import type { Command } from "commander";
import { Option } from "commander";
import { createLog } from "../../base/index.ts";
import { Fault } from "../../contract/index.ts";
import { type Act, type Context, wholeNumber } from "../command.ts";

interface ServeOptions {
  port?: number;
  verbose?: boolean;
  background?: boolean;
}

export function addServe(program: Command, act: Act): void {
  program
    .command("serve")
    .summary("run the daemon here")
    .description(
      "Run the daemon in the foreground. Ctrl-C ends the daemon; processes keep running and the next daemon takes them over.",
    )
    .option("--port <n>", "TCP port on this machine; 0 takes any that is free (default: 7333)", wholeNumber)
    .option("-v, --verbose", "show the daemon's whole log on a terminal, not only warnings")
    .addOption(new Option("--background", "as started by another command").hideHelp())
    .action(act(serve));
}

async function serve(context: Context, options: ServeOptions): Promise<number> {
  const { settings, output, version } = context;
  const { runDaemon } = await import("../../daemon/index.ts");
  try {
    const daemon = await runDaemon({
      home: settings.home,
      version,
      env: settings.daemonEnvironment,
      ...(options.port === undefined ? {} : { port: options.port }),
      ...(options.background ? { fallbackPort: true } : {}),
      // A person wants to see what is wrong; every request is for a file.
      ...(output.errorIsTerminal && !options.verbose ? { log: createLog(2, "warn") } : {}),
    });
    if (!options.background) showPlace(context, daemon);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void daemon.close());
    await daemon.closed;
    if (output.isTerminal) output.afterInterrupt();
    output.hint("daemon ended; processes keep running");
    return 0;
  } catch (error) {
    // Another daemon is there already: for a command that wanted one, that is success.
    if (options.background && error instanceof Fault && error.code === "daemon/already-running") return 0;
    throw error;
  }
}

function showPlace({ settings, output }: Context, daemon: { url: string; socket: string }): void {
  const place = { url: daemon.url, socket: daemon.socket, home: settings.home };
  if (output.json) return output.record(place);
  for (const [name, value] of Object.entries(place)) output.line(`${name.padEnd(8)}${value}`);
}
