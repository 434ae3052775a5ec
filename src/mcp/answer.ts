import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { Fault } from "../contract/index.ts";

/** The field of a result that is text of its own; in JSON each of its line ends and quotes would cost a token more. */
const bodies = ["output", "content", "diff"] as const;

/** A tool's result. Clients show the model one of the two forms: the object, or the text. */
export function toResult(value: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: "text", text: toText(value) }],
    structuredContent: value,
    ...(isFailure(value) && { isError: true }),
  };
}

/**
 * What was written, as it is, and then the rest in one line of JSON. The last line is always ours, whatever a command prints.
 * Results without such a text are JSON alone.
 */
export function toText(value: Record<string, unknown>): string {
  const name = bodies.find((body) => typeof value[body] === "string" && value[body] !== "");
  if (!name) return JSON.stringify(value);
  const { [name]: body, ...facts } = value;
  const text = body as string;
  return `${text}${text.endsWith("\n") ? "" : "\n"}${JSON.stringify(facts)}`;
}

/** A command that exits with 1 is a result. Nothing having been done is a failure. */
function isFailure({ success, error, process_id, background_process_id }: Record<string, unknown>): boolean {
  return success === false && error !== undefined && process_id === undefined && background_process_id === undefined;
}

/** The one place where an error becomes an MCP answer: what the model can repair is a result, the rest an error of the protocol. */
export function toFailure(error: unknown): CallToolResult {
  if (!(error instanceof Fault)) throw error;
  if (error.code === "tool/unknown") throw new ProtocolError(ProtocolErrorCode.InvalidParams, describe(error));
  return { content: [{ type: "text", text: describe(error) }], isError: true };
}

/** Message, what is known, and each field that was wrong. */
export function describe({ message, detail, validations }: Fault): string {
  const untold = (validations ?? []).filter(
    ({ field, detail: why }) => !message.includes(field) || !message.includes(why),
  );
  const fields = untold.map(({ field, detail: why }) => `${field}: ${why}`);
  return [message, ...(detail && !message.includes(detail) ? [detail] : []), ...fields].join("\n");
}
