#!/usr/bin/env node
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { Act, ActOptions, Context } from "./command.ts";
import { readGlobalFlags } from "./command.ts";
import { readSettings } from "./config.ts";
import { Output } from "./output.ts";
import { createProgram } from "./program.ts";
import { report } from "./report.ts";

const version = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;

const act: Act =
  (work, o) =>
  async (...all: unknown[]) => {
    const command = all.at(-1) as Command;
    const options = all.at(-2) as Parameters<typeof work>[1];
    const args = all.slice(0, -2) as never;
    const settings = readSettings(readGlobalFlags(program, command));
    const output = new Output(settings.json);
    const context: Context = {
      settings,
      output,
      version,
      connect: async (c) => (await import("./connection.ts")).connectDaemon(settings, output, version, c),
    };
    process.exitCode = await run(() => work(context, options, ...args), output, isAsProcess(o, command));
    await output.flush();
    // What the client keeps open for a next call must not keep this program.
    process.exit();
  };

const program = createProgram(act, version);
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error, new Output(process.argv.includes("--json")));
}

async function run(work: () => Promise<number | void>, output: Output, asProcess: boolean): Promise<number> {
  try {
    return (await work()) ?? 0;
  } catch (error) {
    return report(error, output, asProcess);
  }
}

function isAsProcess(o: ActOptions | undefined, command: Command): boolean {
  const wanted = o?.asProcess ?? false;
  return typeof wanted === "function" ? wanted(command.opts()) : wanted;
}
