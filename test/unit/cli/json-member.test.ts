import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { setJsonMember, Unwritable } from "../../../src/cli/json-member.ts";

const path = ["mcpServers", "drover"];
const entry = { command: "drover", args: ["mcp"] };

describe("setJsonMember", () => {
  test("makes a file that was not there", () => {
    expect(setJsonMember("", path, entry)).toBe(`{
  "mcpServers": {
    "drover": {
      "command": "drover",
      "args": [
        "mcp"
      ]
    }
  }
}
`);
  });

  test("adds to the end of what is there and keeps every other byte", () => {
    const before = '{\n\t"theme" :  "dark",\n\t"mcpServers": {\n\t\t"other": {"command":"x"}\n\t}\n}';
    expect(setJsonMember(before, path, { command: "d" })).toBe(
      '{\n\t"theme" :  "dark",\n\t"mcpServers": {\n\t\t"other": {"command":"x"},\n\t\t"drover": {\n\t\t\t"command": "d"\n\t\t}\n\t}\n}',
    );
  });

  test("replaces its own entry only", () => {
    const before = '{\n  "mcpServers": {\n    "drover": {"command":"old"},\n    "z": 1\n  },\n  "a": [1,  2]\n}\n';
    expect(setJsonMember(before, path, { command: "new" })).toBe(
      '{\n  "mcpServers": {\n    "drover": {\n      "command": "new"\n    },\n    "z": 1\n  },\n  "a": [1,  2]\n}\n',
    );
  });

  test("leaves a file alone that has it, however it is written", () => {
    const before = '{"mcpServers":{"drover":{ "command" : "drover", "args":["mcp"] }}}';
    expect(setJsonMember(before, path, entry)).toBe(before);
  });

  test.each([
    ["in one line", '{"a":1}', '{"a":1,"mcpServers":{"drover":1}}'],
    ["empty", "{}", '{\n  "mcpServers": {\n    "drover": 1\n  }\n}'],
    ["with an empty object inside", '{\n  "mcpServers": {}\n}', '{\n  "mcpServers": {\n    "drover": 1\n  }\n}'],
    [
      "with Windows line ends",
      '{\r\n  "a": 1\r\n}',
      '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "drover": 1\r\n  }\r\n}',
    ],
    ["with a byte order mark", '\uFEFF{"a":1}', '\uFEFF{"a":1,"mcpServers":{"drover":1}}'],
    ["with the name in strings", '{"s":"}\\"mcpServers{"}', '{"s":"}\\"mcpServers{","mcpServers":{"drover":1}}'],
    ["with a name given twice", '{"mcpServers":1,"mcpServers":{}}', '{"mcpServers":1,"mcpServers":{"drover":1}}'],
  ])("copes with a file %s", (_, before, after) => {
    expect(setJsonMember(before, path, 1)).toBe(after);
  });

  test.each([
    ["comments", '{\n  // mine\n  "a": 1\n}'],
    ["trailing commas", '{"a": 1,}'],
    ["no object", "[1]"],
    ["another shape", '{"mcpServers": []}'],
    ["half a file", '{"a": '],
  ])("refuses %s", (_, before) => {
    expect(() => setJsonMember(before, path, 1)).toThrow(Unwritable);
  });

  test("for any object and indentation: the rest is the same, ours is set, and a second time changes nothing", () => {
    const anyJson = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(anyJson, fc.constantFrom(0, 1, 2, 4, "\t"), (value, indent) => {
        fc.pre(!("mcpServers" in value) || typeof value["mcpServers"] !== "object");
        delete value["mcpServers"];
        const before = JSON.stringify(value, undefined, indent);
        const after = setJsonMember(before, path, entry);
        expect(JSON.parse(after)).toEqual({ ...JSON.parse(before), mcpServers: { drover: entry } });
        expect(after.startsWith(before.replace(/\s*\}$/, ""))).toBe(true);
        expect(setJsonMember(after, path, entry)).toBe(after);
      }),
    );
  });
});
