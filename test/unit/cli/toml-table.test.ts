import { describe, expect, test } from "vitest";
import { Unwritable } from "../../../src/cli/json-member.ts";
import { setTomlTable } from "../../../src/cli/toml-table.ts";

const at = ["mcp_servers", "drover"] as const;
const values = { command: "drover", args: ["mcp", "--tools", "codex"] };
const table = '[mcp_servers.drover]\ncommand = "drover"\nargs = ["mcp", "--tools", "codex"]\n';

describe("setTomlTable", () => {
  test.each([
    ["an empty file", "", table],
    ["a file", 'model = "x"\n', `model = "x"\n\n${table}`],
    ["a file without a last line end", 'model = "x"', `model = "x"\n\n${table}`],
    ["a file with other servers", '[mcp_servers.a]\ncommand = "a"\n\n', `[mcp_servers.a]\ncommand = "a"\n\n${table}`],
  ])("puts its table at the end of %s", (_, before, after) => {
    expect(setTomlTable(before, at, values)).toBe(after);
    expect(setTomlTable(after, at, values)).toBe(after);
  });

  test("changes its own keys and keeps the others, comments and sub-tables", () => {
    const before = `# mine
model = "x" # [mcp_servers.drover]
text = """
[mcp_servers.drover]
command = "no"
"""
[ mcp_servers . "drover" ] # here
enabled = true
args = [
  "mcp", # old
  "]",
]
command = 'old'
startup_timeout_sec = 20

[mcp_servers.drover.env]
command = "a variable of that name"
[other]
command = "x"
`;
    const after = setTomlTable(before, at, values);
    expect(after).toBe(`# mine
model = "x" # [mcp_servers.drover]
text = """
[mcp_servers.drover]
command = "no"
"""
[ mcp_servers . "drover" ] # here
command = "drover"
args = ["mcp", "--tools", "codex"]
enabled = true
startup_timeout_sec = 20

[mcp_servers.drover.env]
command = "a variable of that name"
[other]
command = "x"
`);
    expect(setTomlTable(after, at, values)).toBe(after);
  });

  test("escapes what it writes", () => {
    expect(setTomlTable("", at, { command: 'a "b"\\c\n\u007f' })).toBe(
      '[mcp_servers.drover]\ncommand = "a \\"b\\"\\\\c\\n\\u007f"\n',
    );
  });

  test("keeps Windows line ends", () => {
    expect(setTomlTable("a = 1\r\n", at, { command: "d" })).toBe(
      'a = 1\r\n\r\n[mcp_servers.drover]\r\ncommand = "d"\r\n',
    );
  });

  test.each([
    "mcp_servers = { drover = { command = 'x' } }\n",
    "mcp_servers.drover.command = 'x'\n",
    "[mcp_servers]\ndrover = { command = 'x' }\n",
    "[mcp_servers]\ndrover.command = 'x'\n",
  ])("refuses another form: %s", (before) => {
    expect(() => setTomlTable(before, at, values)).toThrow(Unwritable);
  });
});
