import { resolve } from "node:path";
import { Argument, type Command, Option } from "commander";
import { createLog } from "../../base/index.ts";
import { Fault, type ToolSetName, toChatId, toolSetNames } from "../../contract/index.ts";
import type { Act, Context } from "../command.ts";
import { interruption } from "../interruption.ts";
import { type McpClientName, mcpClientNames } from "../mcp-clients.ts";
import type { InstallOptions } from "../mcp-install.ts";

interface McpOptions {
  tools?: ToolSetName;
  chat?: string;
  workdir?: string;
}

const help = `
stdout carries the protocol and nothing else. A daemon is started when none runs. Commands run where this one was started,
unless the call names a directory. What was started goes on when the client ends.

Chat: --chat, DROVER_CHAT_ID or CODER_CHAT_ID. Without one every process of this machine is visible, and what is started
belongs to no chat.`;

export function addMcp(program: Command, act: Act): void {
  const mcp = program
    .command("mcp")
    .summary("serve the model tools over MCP on stdin and stdout")
    .description(
      "Serve the model tools to an MCP client on stdin and stdout. `drover mcp install` adds it to a client.",
    )
    .addOption(toolsOption())
    .option("--chat <id>", "the chat that this client speaks for")
    .option("-w, --workdir <dir>", "where commands run that name no directory (default: here)")
    .addHelpText("after", help)
    .action(act(serve));
  mcp
    .command("install")
    .summary("add `drover mcp` to a client's configuration")
    .description(
      "Add `drover mcp` to a client's own configuration: shows the change, asks, keeps a backup. claude and vscode: of the project here; the others: of the user.",
    )
    .addArgument(new Argument("<client>", mcpClientNames.join(", ")).choices(mcpClientNames))
    .addOption(toolsOption())
    .option("--print", "only print what would be in the file")
    .option("-y, --yes", "do not ask")
    .action(act(install));
}

function toolsOption(): Option {
  return new Option("--tools <set>", "names that the model already knows (default: drover)").choices(toolSetNames);
}

async function serve(context: Context, options: McpOptions): Promise<number> {
  const { settings, version, output } = context;
  const chat = chatOf(context, options);
  if (process.stdin.isTTY) {
    output.note(
      "drover: this speaks MCP, one JSON message a line; `drover mcp install` adds it to a client. Ctrl-D ends it.",
    );
  }
  const { createClientInvoke } = await import("../mcp-invoke.ts");
  const log = createLog(2, "warn");
  const invoke = createClientInvoke(() => context.connect({ chat }));
  // The daemon comes up while the client still says hello; a failure is told again by the first call.
  invoke.connect().catch((error: unknown) => log.error("no daemon", { error }));
  const { serveMcpStdio } = await import("../../mcp/index.ts");
  const interrupted = interruption();
  await serveMcpStdio({
    invoke,
    tools: options.tools ?? "drover",
    version,
    ...(settings.url === undefined || options.workdir ? { workdir: resolve(options.workdir ?? ".") } : {}),
    input: process.stdin,
    output: process.stdout,
    log,
    signal: interrupted.signal,
  });
  return interrupted.signal.aborted ? await interrupted.raise() : 0;
}

/** A wrong one is refused: it would silently show everything. */
function chatOf({ settings }: Context, options: McpOptions): string | undefined {
  const given =
    options.chat ?? (settings.variable("DROVER_CHAT_ID") || settings.variable("CODER_CHAT_ID") || undefined);
  if (given === undefined) return undefined;
  const chat = toChatId(given);
  if (chat) return chat;
  throw new Fault("request/invalid", `"${given}" is no chat id; write a UUID.`);
}

async function install(context: Context, options: InstallOptions, client: McpClientName): Promise<number> {
  const { installMcp } = await import("../mcp-install.ts");
  return installMcp(context, options, client);
}
