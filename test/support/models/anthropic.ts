import { type Dialect, inTwo, type ModelRequest, type Reply, type SseEvent, toolResult, usage } from "./dialect.ts";

interface Block {
  type: string;
  tool_use_id?: string;
  content?: unknown;
}

interface Body {
  model: string;
  stream?: boolean;
  tools?: { name: string }[];
  messages: { content: string | Block[] }[];
  output_config?: { format?: unknown };
}

const failures: Readonly<Record<number, string>> = {
  401: "authentication_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/** Anthropic Messages. */
export const anthropic: Dialect = {
  name: "anthropic",
  matches: (url) => url.pathname === "/v1/messages",

  read(body): ModelRequest {
    const { model, stream, tools = [], messages, output_config: output } = body as Body;
    const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    return {
      model,
      form: stream ? "sse" : "whole",
      wantsJson: output?.format !== undefined,
      tools: tools.map(({ name }) => ({ name })),
      results: blocks
        .filter(({ type }) => type === "tool_result")
        .map((block) => toolResult(block.tool_use_id ?? "", block.content)),
    };
  },

  whole: (reply, { model }) => ({
    ...message(model),
    content: [
      reply.kind === "text" ? { type: "text", text: reply.text } : { ...toolUse(reply), input: reply.arguments },
    ],
    stop_reason: stopReason(reply),
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  }),

  events: (reply, { model }) => [
    typed("message_start", { message: { ...message(model), content: [], stop_reason: null } }),
    typed("content_block_start", {
      index: 0,
      content_block: reply.kind === "text" ? { type: "text", text: "" } : { ...toolUse(reply), input: {} },
    }),
    ...inTwo(reply.kind === "text" ? reply.text : JSON.stringify(reply.arguments)).map((piece) =>
      typed("content_block_delta", {
        index: 0,
        delta:
          reply.kind === "text"
            ? { type: "text_delta", text: piece }
            : { type: "input_json_delta", partial_json: piece },
      }),
    ),
    typed("content_block_stop", { index: 0 }),
    typed("message_delta", {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    typed("message_stop", {}),
  ],

  failure: (status, text) => ({ type: "error", error: { type: failures[status] ?? "api_error", message: text } }),
};

const typed = (type: string, fields: object): SseEvent => ({ event: type, data: { type, ...fields } });

const message = (model: string) => ({
  id: "msg_scripted",
  type: "message",
  role: "assistant",
  model,
  stop_sequence: null,
  usage: { input_tokens: usage.input, output_tokens: 1 },
});

const toolUse = (reply: Reply & { kind: "tool" }) => ({ type: "tool_use", id: reply.callId, name: reply.tool.name });

const stopReason = (reply: Reply) => (reply.kind === "text" ? "end_turn" : "tool_use");
