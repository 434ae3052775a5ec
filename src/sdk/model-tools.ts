import type { ToolSetName } from "../contract/index.ts";
import { type ToolDeclaration, toolDeclarations } from "./tool-definitions.ts";

export type { ToolDeclaration } from "./tool-definitions.ts";

/** The forms in which model libraries take tools. */
export interface ToolForms {
  /** Anthropic Messages: `tools`. */
  anthropic: { name: string; description: string; input_schema: JsonObject };
  /** OpenAI chat completions: `tools`. */
  openai: { type: "function"; function: { name: string; description: string; parameters: JsonObject } };
  /** OpenAI Responses: `tools`. */
  "openai-responses": { type: "function"; name: string; description: string; parameters: JsonObject; strict: false };
  /** Gemini: `tools[0].functionDeclarations`. */
  gemini: { name: string; description: string; parameters: JsonObject };
}

type JsonObject = Readonly<Record<string, unknown>>;
type Forms = { [F in keyof ToolForms]: (tool: ToolDeclaration) => ToolForms[F] };

const forms: Forms = {
  anthropic: ({ name, description, input_schema }) => ({ name, description, input_schema }),
  openai: ({ name, description, input_schema: parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }),
  "openai-responses": ({ name, description, input_schema: parameters }) => ({
    type: "function",
    name,
    description,
    parameters,
    strict: false,
  }),
  gemini: ({ name, description, input_schema }) => ({
    name,
    description,
    parameters: withoutClosing(input_schema) as JsonObject,
  }),
};

/** The model tools in the form of a library, under names that its models know; calls go to `client.tools.call`. */
export function toolsFor<F extends keyof ToolForms>(form: F, set: ToolSetName = "drover"): ToolForms[F][] {
  return toolDeclarations[set].map(forms[form]);
}

/** Gemini's schemas know no `additionalProperties`. */
function withoutClosing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutClosing);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([key]) => key !== "additionalProperties");
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutClosing(item)]));
}
