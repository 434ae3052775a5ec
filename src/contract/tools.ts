import { z } from "zod";
import { plain } from "./tool-alias.ts";
import { type Alias, type ToolDefinition, type ToolName, type ToolSetName, toolSetNames } from "./tool-definition.ts";
import { fileTools } from "./tool-files.ts";
import { processTools } from "./tool-processes.ts";
import { claudeTools } from "./tool-set-claude.ts";
import { codexTools } from "./tool-set-codex.ts";
import { geminiTools } from "./tool-set-gemini.ts";

/** Every model tool, declared once. */
export const tools: readonly ToolDefinition[] = [...processTools, ...fileTools];

type Table = (typeof processTools | typeof fileTools)[number];
type Entry<N extends ToolName> = Extract<Table, { name: N }>;
/** Checked arguments of a tool. */
export type ToolArguments<N extends ToolName> = z.output<Entry<N>["input"]>;
/** What a tool answers. */
export type ToolResult<N extends ToolName> = z.output<Entry<N>["output"]>;

/** The same core under names that models already know. */
export const toolSets: Readonly<Record<ToolSetName, readonly Alias[]>> = {
  drover: tools.map(plain),
  claude: claudeTools,
  codex: codexTools,
  gemini: geminiTools,
};

/** A schema of a tool in JSON Schema form: everything in place, because models and their libraries follow no references. */
export function toToolSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, $defs, ...root } = z.toJSONSchema(schema, { io: "input" }) as JsonSchema;
  return inline(root, $defs ?? {}) as Record<string, unknown>;
}

interface JsonSchema extends Record<string, unknown> {
  $defs?: Record<string, unknown>;
}

/** Also without the bounds that every integer has; they cost a model tokens and tell it nothing. */
function inline(value: unknown, named: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => inline(item, named));
  if (value === null || typeof value !== "object") return value;
  const { $ref, ...rest } = value as Record<string, unknown>;
  const meant = typeof $ref === "string" ? named[$ref.slice("#/$defs/".length)] : undefined;
  const entries = Object.entries({ ...(meant as object | undefined), ...rest }).filter(
    ([key, item]) => !(key === "id" && typeof item === "string") && Math.abs(Number(item)) !== Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(entries.map(([key, item]) => [key, inline(item, named)]));
}

const jsonSchema = z.record(z.string(), z.unknown());
export const toolListQuery = z.object({
  set: z.enum(toolSetNames).optional().describe("Names that a model already knows; default `drover`."),
});
export const toolCallQuery = toolListQuery.extend({
  workdir: z
    .string()
    .max(4096)
    .optional()
    .describe("Where `execute` runs when its arguments name no directory; MCP clients start us in the project's."),
});
/** Behind the `?` of `/mcp`. */
export const mcpQuery = z.object({ tools: toolListQuery.shape.set, workdir: toolCallQuery.shape.workdir });
export const toolListAnswer = z
  .object({
    tools: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        input_schema: jsonSchema,
        output_schema: jsonSchema,
        annotations: z.object({
          readOnlyHint: z.boolean(),
          destructiveHint: z.boolean(),
          idempotentHint: z.boolean(),
          openWorldHint: z.boolean(),
        }),
      }),
    ),
  })
  .meta({ id: "ToolListAnswer" });
/** The body of a call is the arguments themselves; handlers get them under one name. */
export const toolCallRequest = z.object({ arguments: z.record(z.string(), z.unknown()) });
export const toolCallAnswer = z.record(z.string(), z.unknown()).meta({ id: "ToolCallAnswer" });
