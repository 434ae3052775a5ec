import { describe, expect, test } from "vitest";
import { diffLines } from "../../../src/cli/line-diff.ts";
import { type McpClientName, mcpClientNames, mcpClients } from "../../../src/cli/mcp-clients.ts";

const server = { command: "drover", args: ["mcp"] };
const place = { home: "/home/u", cwd: "/p", variable: () => undefined };

describe("mcp clients", () => {
  const expected: Record<McpClientName, [file: string, value: unknown]> = {
    claude: ["/p/.mcp.json", { mcpServers: { drover: { type: "stdio", ...server } } }],
    codex: ["/home/u/.codex/config.toml", '[mcp_servers.drover]\ncommand = "drover"\nargs = ["mcp"]\n'],
    gemini: ["/home/u/.gemini/settings.json", { mcpServers: { drover: server } }],
    opencode: [
      "/home/u/.config/opencode/opencode.json",
      { mcp: { drover: { type: "local", command: ["drover", "mcp"], enabled: true, timeout: 60_000 } } },
    ],
    cursor: ["/home/u/.cursor/mcp.json", { mcpServers: { drover: server } }],
    vscode: ["/p/.vscode/mcp.json", { servers: { drover: { type: "stdio", ...server } } }],
  };

  test.each(mcpClientNames)("%s: the documented file and form", (name) => {
    const client = mcpClients[name];
    const text = client.edit("", server);
    const [file, value] = expected[name];
    expect(client.file(place)).toBe(file);
    expect(typeof value === "string" ? text : JSON.parse(text)).toEqual(value);
    expect(text).toContain(client.snippet(server));
    expect(client.edit(text, server)).toBe(text);
  });

  test("codex and opencode keep their files where they are told to", () => {
    const variable = (name: string) => ({ CODEX_HOME: "/c", XDG_CONFIG_HOME: "/x" })[name];
    expect(mcpClients.codex.file({ ...place, variable })).toBe("/c/config.toml");
    expect(mcpClients.opencode.file({ ...place, variable })).toBe("/x/opencode/opencode.json");
  });

  test("opencode: goes where the file of its version 2 keeps servers", () => {
    const text = mcpClients.opencode.edit('{"mcp":{"servers":{"a":{"type":"local","command":["x"]}}}}', server);
    expect(JSON.parse(text).mcp.servers.drover).toEqual({ type: "local", command: ["drover", "mcp"] });
  });
});

describe("diffLines", () => {
  test("shows the change and what is around it", () => {
    expect(diffLines("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nnew\n6\n7\n8\n")).toEqual([
      "@@ -2,7 +2,7 @@",
      " 2",
      " 3",
      " 4",
      "-5",
      "+new",
      " 6",
      " 7",
      " 8",
    ]);
  });

  test("shows a new file, and nothing where nothing changes", () => {
    expect(diffLines("", "a\nb\n")).toEqual(["@@ -0,0 +1,2 @@", "+a", "+b"]);
    expect(diffLines("a\n", "a\n")).toEqual([]);
  });
});
