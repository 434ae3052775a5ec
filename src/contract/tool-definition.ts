import type { z } from "zod";

/** Every model tool, in the order in which they are listed. */
export const toolNames = [
  "execute",
  "process_output",
  "process_wait",
  "process_input",
  "process_list",
  "process_signal",
  "process_stop",
  "process_search",
  "read_file",
  "write_file",
  "edit_file",
  "list_directory",
] as const;
export type ToolName = (typeof toolNames)[number];

/** The sets that `--tools` and `?set=` choose from. */
export const toolSetNames = ["drover", "claude", "codex", "gemini"] as const;
export type ToolSetName = (typeof toolSetNames)[number];

/** Hints for clients, as MCP defines them. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** One tool, declared once: HTTP, MCP and the client read it from here. */
export interface ToolDefinition {
  readonly name: ToolName;
  readonly title: string;
  /** What the model reads. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
}

/** A call as it is written in notes, hints and holes of the output. */
export interface ToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call of one of our own tools. */
export interface OwnCall extends ToolCall {
  readonly tool: ToolName;
}

/** A tool of a set: one of ours, or a name with arguments that a model already knows. The work is done by a tool of ours. */
export interface Alias {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
  /** Checked arguments of the alias as a call of ours. */
  toCall(given: Readonly<Record<string, unknown>>): OwnCall;
  /** The way back, for calls that results name; undefined when this alias cannot say it. */
  fromCall(call: OwnCall): Readonly<Record<string, unknown>> | undefined;
}
