/** A tool as the client offered it; `namespace` where the provider keeps its tools in groups. */
export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
}

/** A tool's result as the client sent it back to the model. */
export interface ToolResult {
  readonly callId: string;
  /** Every text part, joined by newlines. */
  readonly text: string;
  /** The JSON object in the text; undefined when it holds none. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
}

/** What is alike in every provider's request. */
export interface ModelRequest {
  readonly model: string;
  readonly form: "whole" | "sse" | "list";
  /** The answer must be a JSON text (routing and other side calls). */
  readonly wantsJson: boolean;
  readonly tools: readonly OfferedTool[];
  readonly results: readonly ToolResult[];
}

export type Reply =
  | { readonly kind: "tool"; readonly tool: OfferedTool; readonly callId: string; readonly arguments: object }
  | { readonly kind: "text"; readonly text: string };

export interface SseEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** One provider's wire form: how its requests are read and its answers written. */
export interface Dialect {
  readonly name: "anthropic" | "openai-responses" | "openai-chat" | "gemini";
  matches(url: URL): boolean;
  read(body: unknown, url: URL): ModelRequest;
  whole(reply: Reply, request: ModelRequest): unknown;
  /** A string as data is written as it is (OpenAI's closing `[DONE]`). */
  events(reply: Reply, request: ModelRequest): SseEvent[];
  failure(status: number, message: string): unknown;
}

export const usage = { input: 100, output: 20 } as const;

export function toolResult(callId: string, content: unknown): ToolResult {
  const text = textOf(content);
  return { callId, text, value: objectIn(text) };
}

/** Splits so that a client which reads only whole pieces is found out. */
export function inTwo(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** Content is a text, or parts of which some have a text. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined ? "" : JSON.stringify(content);
  return content
    .map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** Clients put lines of their own around a result ("Wall time: …", `<untrusted_context>`); the object begins on a line. */
function objectIn(text: string): Record<string, unknown> | undefined {
  const end = text.lastIndexOf("}") + 1;
  for (const { index } of text.matchAll(/^\s*\{/gm)) {
    const value = parsed(text.slice(index, end));
    if (value) return value;
  }
  return undefined;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
