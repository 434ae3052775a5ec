import { type Dialect, inTwo, type ModelRequest, type Reply, type SseEvent, toolResult, usage } from "./dialect.ts";

interface Body {
  model: string;
  stream?: boolean;
  tools?: { function: { name: string } }[];
  messages: { role: string; tool_call_id?: string; content?: unknown }[];
  response_format?: { type?: string };
}

/** OpenAI chat completions. */
export const openaiChat: Dialect = {
  name: "openai-chat",
  matches: (url) => url.pathname === "/v1/chat/completions",

  read(body): ModelRequest {
    const { model, stream, tools = [], messages, response_format: format } = body as Body;
    return {
      model,
      form: stream ? "sse" : "whole",
      wantsJson: (format?.type ?? "text") !== "text",
      tools: tools.map((tool) => ({ name: tool.function.name })),
      results: messages
        .filter(({ role }) => role === "tool")
        .map((message) => toolResult(message.tool_call_id ?? "", message.content)),
    };
  },

  whole: (reply, { model }) => ({
    ...head(model, "chat.completion"),
    choices: [{ index: 0, message: { role: "assistant", ...full(reply) }, finish_reason: finish(reply) }],
    usage: tokens,
  }),

  events(reply, { model }) {
    const chunk = (delta: object, end: string | null = null): SseEvent => ({
      data: { ...head(model, "chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason: end }] },
    });
    const pieces = inTwo(reply.kind === "text" ? reply.text : JSON.stringify(reply.arguments));
    const first = reply.kind === "text" ? { content: "" } : { content: null, tool_calls: [call(reply, "")] };
    return [
      chunk({ role: "assistant", ...first }),
      ...pieces.map((piece) =>
        chunk(
          reply.kind === "text" ? { content: piece } : { tool_calls: [{ index: 0, function: { arguments: piece } }] },
        ),
      ),
      chunk({}, finish(reply)),
      { data: { ...head(model, "chat.completion.chunk"), choices: [], usage: tokens } },
      { data: "[DONE]" },
    ];
  },

  failure: (status, message) => ({
    error: { message, type: status === 401 ? "invalid_request_error" : "server_error", code: null, param: null },
  }),
};

const tokens = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
};

const head = (model: string, object: string) => ({ id: "chatcmpl-scripted", object, created: 0, model });

const finish = (reply: Reply) => (reply.kind === "text" ? "stop" : "tool_calls");

const full = (reply: Reply) =>
  reply.kind === "text"
    ? { content: reply.text }
    : { content: null, tool_calls: [call(reply, JSON.stringify(reply.arguments))] };

const call = (reply: Reply & { kind: "tool" }, text: string) => ({
  index: 0,
  id: reply.callId,
  type: "function",
  function: { name: reply.tool.name, arguments: text },
});
