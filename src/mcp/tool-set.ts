import type { Tool } from "@modelcontextprotocol/server";
import type { Alias, OwnCall, ToolCall, ToolSetName } from "../contract/index.ts";
import { toolSets, toToolSchema } from "../contract/schemas.ts";

/** The tools of one set: as they are listed, and by name. Made once per connection or daemon. */
export interface ToolSet {
  readonly name: ToolSetName;
  readonly list: readonly Tool[];
  find(name: string): Alias | undefined;
  /** A call of ours in this set's words; undefined when it has none for it. */
  say(call: OwnCall): ToolCall | undefined;
}

/** A set in the words of the protocol. */
export function createToolSet(name: ToolSetName): ToolSet {
  const aliases = toolSets[name];
  const byName = new Map(aliases.map((alias) => [alias.name, alias]));
  return { name, list: aliases.map(toTool), find: (tool) => byName.get(tool), say: (call) => say(aliases, call) };
}

function say(aliases: readonly Alias[], call: OwnCall): ToolCall | undefined {
  for (const alias of aliases) {
    const given = alias.fromCall(call);
    if (given) return { tool: alias.name, arguments: given };
  }
  return undefined;
}

function toTool({ name, title, description, input, output, annotations }: Alias): Tool {
  return {
    name,
    title,
    description,
    inputSchema: toToolSchema(input) as Tool["inputSchema"],
    outputSchema: toToolSchema(output) as NonNullable<Tool["outputSchema"]>,
    annotations: { ...annotations },
  };
}
