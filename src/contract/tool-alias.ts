import { TOOL_OUTPUT_MAX_BYTES, TOOL_OUTPUT_MIN_BYTES } from "./bounds.ts";
import type { Alias, OwnCall, ToolDefinition, ToolName } from "./tool-definition.ts";
import { processTools } from "./tool-processes.ts";

/** A tool of ours under its own name. */
export function plain(definition: ToolDefinition): Alias {
  return {
    ...definition,
    toCall: (given) => ({ tool: definition.name, arguments: given }),
    fromCall: (call) => (call.tool === definition.name ? call.arguments : undefined),
  };
}

/** Tools of ours that a set has no word for. */
export function plainTools(...names: ToolName[]): Alias[] {
  return processTools.filter((tool) => names.includes(tool.name)).map(plain);
}

/** Arguments without those that are absent. */
export function present(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** A duration of ours from milliseconds of theirs. */
export function fromMs(ms: unknown): string | undefined {
  return typeof ms === "number" ? `${Math.max(0, Math.round(ms))}ms` : undefined;
}

/** A token is about four bytes of text. */
export function bytesOfTokens(tokens: unknown): number | undefined {
  return typeof tokens === "number" ? clampBytes(tokens * 4) : undefined;
}

export function clampBytes(bytes: number): number {
  return Math.min(TOOL_OUTPUT_MAX_BYTES, Math.max(TOOL_OUTPUT_MIN_BYTES, Math.round(bytes)));
}

/** The range of a `process_output` call in words of a reading alias; undefined for every other call. */
export function readingCall(call: OwnCall, idName: string): Record<string, unknown> | undefined {
  if (call.tool !== "process_output") return undefined;
  const { process_id, from, to } = call.arguments;
  return present({ [idName]: process_id, from, to });
}
