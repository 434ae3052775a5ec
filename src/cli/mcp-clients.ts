import { join } from "node:path";
import { ignore } from "../base/index.ts";
import { setJsonMember } from "./json-member.ts";
import { formatTomlTable, setTomlTable } from "./toml-table.ts";

/** The clients whose configuration `drover mcp install` knows. */
export const mcpClientNames = ["claude", "codex", "gemini", "opencode", "cursor", "vscode"] as const;
export type McpClientName = (typeof mcpClientNames)[number];

/** What a client has to run. */
export interface McpCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where the files are looked for. */
export interface Place {
  readonly home: string;
  /** The project's directory. */
  readonly cwd: string;
  readonly variable: (name: string) => string | undefined;
}

export interface McpClient {
  readonly title: string;
  /** The file that the client's own documentation names; a project's where that is the usual one. */
  file(place: Place): string;
  /** The same text with our server in it; throws Unwritable. */
  edit(text: string, server: McpCommand): string;
  /** What to put in by hand. */
  snippet(server: McpCommand): string;
  /** What to do after it. */
  readonly next: string;
}

const NAME = "drover";

/** Version 1, which version 2 reads too. Told nothing it gives up on a call sooner than our 45 s. */
const opencodeOne = inJson(["mcp", NAME], ({ command, args }) => ({
  type: "local",
  command: [command, ...args],
  enabled: true,
  timeout: 60_000,
}));

/** Version 2 keeps servers one level deeper; a server of that name has a type. */
function hasServers(text: string): boolean {
  try {
    const servers = (JSON.parse(text) as { mcp?: { servers?: Record<string, unknown> } } | null)?.mcp?.servers;
    return typeof servers === "object" && servers !== null && !("type" in servers);
  } catch (error) {
    ignore(error, "empty, or refused by the edit with words");
    return false;
  }
}

export const mcpClients: Readonly<Record<McpClientName, McpClient>> = {
  claude: {
    title: "Claude Code",
    file: ({ cwd }) => join(cwd, ".mcp.json"),
    ...inJson(["mcpServers", NAME], ({ command, args }) => ({ type: "stdio", command, args })),
    next: "Start claude in this directory and approve the server; /mcp shows it.",
  },
  codex: {
    title: "Codex",
    file: ({ home, variable }) => join(variable("CODEX_HOME") || join(home, ".codex"), "config.toml"),
    edit: (text, { command, args }) => setTomlTable(text, ["mcp_servers", NAME], { command, args }),
    snippet: ({ command, args }) => formatTomlTable(["mcp_servers", NAME], { command, args }).trimEnd(),
    next: "`codex mcp list` shows it.",
  },
  gemini: {
    title: "Gemini CLI",
    file: ({ home }) => join(home, ".gemini", "settings.json"),
    ...inJson(["mcpServers", NAME], ({ command, args }) => ({ command, args })),
    next: "`gemini mcp list` shows it.",
  },
  opencode: {
    title: "OpenCode",
    file: ({ home, variable }) =>
      join(variable("XDG_CONFIG_HOME") || join(home, ".config"), "opencode", "opencode.json"),
    edit: (text, server) =>
      hasServers(text)
        ? setJsonMember(text, ["mcp", "servers", NAME], { type: "local", command: [server.command, ...server.args] })
        : opencodeOne.edit(text, server),
    snippet: (server) => opencodeOne.snippet(server),
    next: "`opencode mcp list` shows it.",
  },
  cursor: {
    title: "Cursor",
    file: ({ home }) => join(home, ".cursor", "mcp.json"),
    ...inJson(["mcpServers", NAME], ({ command, args }) => ({ command, args })),
    next: "Cursor asks once whether to turn it on (Settings, MCP).",
  },
  vscode: {
    title: "VS Code",
    file: ({ cwd }) => join(cwd, ".vscode", "mcp.json"),
    ...inJson(["servers", NAME], ({ command, args }) => ({ type: "stdio", command, args })),
    next: "Open the file in VS Code and press Start above the entry.",
  },
};

function inJson(path: readonly string[], toEntry: (server: McpCommand) => object): Pick<McpClient, "edit" | "snippet"> {
  return {
    edit: (text, server) => setJsonMember(text, path, toEntry(server)),
    snippet: (server) => setJsonMember("", path, toEntry(server)).trimEnd(),
  };
}
