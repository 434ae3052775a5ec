import { type Command, Option } from "commander";
import type { Client } from "../sdk/index.ts";
import type { GlobalFlags, Settings } from "./config.ts";
import type { ConnectOptions } from "./connection.ts";
import type { Output } from "./output.ts";

/** What every command is handed. */
export interface Context {
  readonly settings: Settings;
  readonly output: Output;
  readonly version: string;
  readonly connect: (o?: ConnectOptions) => Promise<Client>;
}

/** The body of a command; a number is the exit code, nothing is 0. */
export type Work<O, A extends unknown[]> = (context: Context, options: O, ...args: A) => Promise<number | void>;

export interface ActOptions {
  /** Exit codes of this command are those of a process, so Drover's own failures become 125. */
  asProcess?: boolean | ((options: Record<string, unknown>) => boolean);
}

/** Turns the body of a command into a commander action. */
export type Act = <O extends object, A extends unknown[]>(
  work: Work<O, A>,
  o?: ActOptions,
) => (...args: unknown[]) => Promise<void>;

const globals = [
  ["--json", "print JSON, failures too"],
  ["--home <dir>", "where the daemon lives (DROVER_HOME, default ~/.drover)"],
  ["--url <url>", "a daemon by its address (DROVER_URL, DROVER_TOKEN)"],
  ["--no-spawn", "never start a daemon"],
] as const;

/** Global options may stand in front of and behind a command; its help lists them once, at the end. */
export function addGlobalOptions(program: Command): void {
  for (const [flags, text] of globals) program.addOption(new Option(flags, text));
  for (const command of program.commands) addHiddenGlobals(command);
}

function addHiddenGlobals(command: Command): void {
  for (const [flags, text] of globals) {
    const option = new Option(flags, text);
    if (!command.options.some((o) => o.long === option.long)) command.addOption(option.hideHelp());
  }
  for (const inner of command.commands) addHiddenGlobals(inner);
}

/** The innermost that says something counts. */
export function readGlobalFlags(program: Command, command: Command): GlobalFlags {
  const outer = command.parent && command !== program ? readGlobalFlags(program, command.parent) : {};
  const inner = command.opts<GlobalFlags>();
  return { ...outer, ...inner, spawn: outer.spawn !== false && inner.spawn !== false };
}

/** For options that may be given several times. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** For options and arguments that are whole numbers. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidNumber();
  return Number(text);
}

class InvalidNumber extends Error {
  // Commander recognises its own kind by this code.
  readonly code = "commander.invalidArgument";
  override readonly message = "Write a whole number.";
}
