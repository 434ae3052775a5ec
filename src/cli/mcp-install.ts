import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { ignore } from "../base/index.ts";
import { Fault, type ToolSetName } from "../contract/index.ts";
import type { Context } from "./command.ts";
import type { Settings } from "./config.ts";
import { readConfigFile, writeConfigFile } from "./config-file.ts";
import { Unwritable } from "./json-member.ts";
import { diffLines } from "./line-diff.ts";
import { type McpClient, type McpClientName, type McpCommand, mcpClients } from "./mcp-clients.ts";
import type { Output } from "./output.ts";

export interface InstallOptions {
  tools?: ToolSetName;
  print?: boolean;
  yes?: boolean;
}

/** Shows the change, asks, keeps a backup, writes. */
export async function installMcp(context: Context, options: InstallOptions, name: McpClientName): Promise<number> {
  const { output, settings } = context;
  const client = mcpClients[name];
  const own = settings.variable("HOME");
  const home = own && isAbsolute(own) ? own : homedir();
  const server = toCommand(settings, options, join(home, ".drover"));
  const place = { home, cwd: process.cwd(), variable: settings.variable };
  const file = readConfigFile(client.file(place));
  const after = edit(client, file, server);
  if (options.print) {
    output.line(after.trimEnd());
    return 0;
  }
  const isChange = after !== file.text;
  if (output.json) {
    if (isChange && !options.yes) throw mustSayYes(file.path);
    const backup = isChange ? writeConfigFile(file, after, new Date()) : undefined;
    output.value({ client: name, file: file.path, changed: isChange, ...(backup && { backup }) });
    return 0;
  }
  if (!isChange) {
    output.line(`${file.path} has it already; nothing to do.`);
    return 0;
  }
  showDiff(output, file.path, diffLines(file.text, after));
  if (!options.yes && !(await agrees(output, file.path))) {
    output.line("Nothing was written.");
    return 1;
  }
  const backup = writeConfigFile(file, after, new Date());
  output.line(`Written to ${file.path}${backup ? `; the old one is ${backup}` : ""}.`);
  output.hint(client.next);
  return 0;
}

function edit(client: McpClient, file: { path: string; text: string }, server: McpCommand): string {
  try {
    return client.edit(file.text, server);
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    throw new Fault("request/invalid", `${file.path} is left as it is: ${error.message}.`, {
      detail: `Put this into it for ${client.title}:\n${client.snippet(server)}`,
    });
  }
}

/** By name where that leads here, so that the file also works for others; else by its whole path. */
function toCommand(settings: Settings, { tools }: InstallOptions, usualHome: string): McpCommand {
  const main = fileURLToPath(new URL("./main.js", import.meta.url));
  const args = [
    "mcp",
    ...(tools !== undefined && tools !== "drover" ? ["--tools", tools] : []),
    // The client's environment may be another than the one here.
    ...(settings.url !== undefined ? ["--url", settings.url] : []),
    ...(settings.url === undefined && settings.home !== usualHome ? ["--home", settings.home] : []),
  ];
  return isOnPath(settings.path, main)
    ? { command: "drover", args }
    : { command: process.execPath, args: [main, ...args] };
}

function isOnPath(path: string, main: string): boolean {
  for (const directory of path.split(delimiter).filter(isAbsolute)) {
    try {
      return realpathSync(join(directory, "drover")) === realpathSync(main);
    } catch (error) {
      ignore(error, "not in this directory");
    }
  }
  return false;
}

function showDiff(output: Output, path: string, lines: readonly string[]): void {
  output.line(output.tone("quiet", path));
  for (const line of lines) {
    output.line(
      line.startsWith("+") ? output.tone("good", line) : line.startsWith("-") ? output.tone("bad", line) : line,
    );
  }
}

async function agrees(output: Output, path: string): Promise<boolean> {
  if (!process.stdin.isTTY || !output.isTerminal) throw mustSayYes(path);
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await asking.question("Write this? [y/N] ")).trim());
  } finally {
    asking.close();
  }
}

function mustSayYes(path: string): Fault {
  return new Fault("request/invalid", `nothing was written to ${path}: there is no terminal to ask on.`, {
    detail: "Add --yes to write it, or --print to see the file.",
  });
}
