import { describe, expect, test } from "vitest";
import { type Alias, type OwnCall, toolNames, toolSetNames } from "../../../src/contract/index.ts";
import { toolSets, tools, toToolSchema } from "../../../src/contract/schemas.ts";
import { toolsFor } from "../../../src/sdk/index.ts";
import { checkArguments, chooseProcess, sayCall } from "../../../src/tools/index.ts";

const every: [string, Alias][] = toolSetNames.flatMap((set) =>
  toolSets[set].map((tool): [string, Alias] => [`${set}/${tool.name}`, tool]),
);

describe("tool definitions", () => {
  test("are one per name, in order", () => {
    expect(tools.map((tool) => tool.name)).toEqual(toolNames);
    for (const set of toolSetNames) {
      const names = toolSets[set].map((tool) => tool.name);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test.each(every)("%s has closed schemas without references", (_, { input, output }) => {
    for (const schema of [toToolSchema(input), toToolSchema(output)]) {
      expect(schema).toMatchObject({ type: "object", properties: expect.any(Object) });
      expect(JSON.stringify(schema)).not.toMatch(/\$ref|\$defs|\$schema|prefixItems|9007199254740991/);
    }
    expect(toToolSchema(input)).toMatchObject({ additionalProperties: false });
  });

  test.each(every)("%s tells the model enough and no more", (_, { description, annotations }) => {
    expect(description.length).toBeGreaterThan(40);
    expect(description.length).toBeLessThan(1_600);
    expect(annotations.readOnlyHint && annotations.destructiveHint).toBe(false);
  });

  test("a list keeps its ids", () => {
    const list = tools.find((tool) => tool.name === "process_list");
    expect(JSON.stringify(toToolSchema(list?.output as Alias["output"]))).toContain('"id":{"type":"string"}');
  });
});

describe("calls in the words of a set", () => {
  const read: OwnCall = { tool: "process_output", arguments: { process_id: "p", from: 1, to: 2 } };
  const wait: OwnCall = { tool: "process_wait", arguments: { process_id: "p", from: 1, timeout: "45s" } };
  const input: OwnCall = { tool: "process_input", arguments: { process_id: "p", text: "…" } };

  test.each(toolSetNames)("what %s is told to call, it can call, and means the same", (name) => {
    const set = toolSets[name];
    for (const call of [read, wait, input]) {
      const [tool, ...json] = sayCall(set, call).split(" ");
      const alias = set.find((offered) => offered.name === tool);
      if (!alias) throw new Error(`${name} has no ${tool}`);
      const own = alias.toCall(checkArguments(alias, JSON.parse(json.join(" "))));
      expect(own.tool).toBe(call.tool);
      const { text, ...rest } = call.arguments;
      expect(own.arguments).toMatchObject(rest);
      const { text: typed = "" } = own.arguments as { text?: string };
      expect(typed.trim()).toBe(text ?? "");
      checkArguments(tools.find((t) => t.name === own.tool) ?? alias, own.arguments);
    }
  });
});

describe("tools for model libraries", () => {
  test("have the form that each library takes", () => {
    const [anthropic] = toolsFor("anthropic");
    expect(anthropic).toMatchObject({ name: "execute", input_schema: { type: "object", required: ["command"] } });
    expect(toolsFor("openai", "codex")[0]).toMatchObject({ type: "function", function: { name: "exec_command" } });
    expect(toolsFor("openai-responses")[0]).toMatchObject({ type: "function", name: "execute", strict: false });
    expect(JSON.stringify(toolsFor("gemini", "gemini"))).not.toContain("additionalProperties");
  });

  test("are those of the contract", () => {
    for (const set of toolSetNames) {
      const declared = toolsFor("anthropic", set).map(({ name, input_schema }) => ({ name, input_schema }));
      const expected = toolSets[set].map(({ name, input }) => ({ name, input_schema: toToolSchema(input) }));
      expect(declared).toEqual(expected);
    }
  });
});

describe("names of processes", () => {
  const process = (id: string, label: string | undefined, running: boolean, seq: number) => ({
    id,
    label,
    running,
    seq,
    command: `command ${seq}`,
  });
  const a = process("aaaa1111", "web", false, 1);
  const b = process("aaaa2222", "web", true, 2);
  const c = process("bbbb3333", undefined, true, 3);

  test("a label means the running one, or the newest", () => {
    expect(chooseProcess("web", { labelled: [a, b], prefixed: [], running: [b, c] })).toBe(b);
    expect(chooseProcess("web", { labelled: [a], prefixed: [c], running: [c] })).toBe(a);
    expect(chooseProcess("bbbb", { labelled: [], prefixed: [c], running: [b, c] })).toBe(c);
  });

  test("what means several or none is answered with those that are meant, or run", () => {
    expect(() => chooseProcess("aaaa", { labelled: [], prefixed: [a, b], running: [] })).toThrow(
      "aaaa2222 (label web)",
    );
    expect(() => chooseProcess("zzz", { labelled: [], prefixed: [], running: [b, c] })).toThrow(
      "Running: aaaa2222 (label web): command 2; bbbb3333: command 3.",
    );
    expect(() => chooseProcess("zzz", { labelled: [], prefixed: [], running: [] })).toThrow("Nothing is running.");
  });
});
