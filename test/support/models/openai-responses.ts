import { type Dialect, inTwo, type ModelRequest, type Reply, type SseEvent, toolResult, usage } from "./dialect.ts";

interface Tool {
  type: string;
  name?: string;
  tools?: Tool[];
}

interface Body {
  model: string;
  stream?: boolean;
  tools?: Tool[];
  input: string | { type?: string; call_id?: string; output?: unknown }[];
  text?: { format?: { type?: string } };
}

/** OpenAI Responses, with tools in `namespace` groups as Codex sends them. */
export const openaiResponses: Dialect = {
  name: "openai-responses",
  matches: (url) => url.pathname === "/v1/responses",

  read(body): ModelRequest {
    const { model, stream, tools = [], input, text } = body as Body;
    return {
      model,
      form: stream ? "sse" : "whole",
      wantsJson: (text?.format?.type ?? "text") !== "text",
      tools: tools.flatMap((tool) =>
        tool.type === "namespace"
          ? (tool.tools ?? []).map(({ name = "" }) => ({ name, namespace: tool.name ?? "" }))
          : [{ name: tool.name ?? tool.type }],
      ),
      results: (typeof input === "string" ? [] : input)
        .filter(({ type }) => type === "function_call_output")
        .map((item) => toolResult(item.call_id ?? "", item.output)),
    };
  },

  whole: (reply, { model }) => response(model, [item(reply)]),

  events(reply, { model }) {
    const open = reply.kind === "text" ? { ...item(reply), content: [] } : { ...item(reply), arguments: "" };
    const [kind, text, where] =
      reply.kind === "text"
        ? ["response.output_text.delta", reply.text, { content_index: 0 }]
        : ["response.function_call_arguments.delta", JSON.stringify(reply.arguments), {}];
    return [
      typed("response.created", { response: { ...response(model, []), status: "in_progress", usage: null } }),
      typed("response.output_item.added", { output_index: 0, item: { ...open, status: "in_progress" } }),
      ...inTwo(text).map((delta) => typed(kind, { output_index: 0, item_id: item(reply).id, ...where, delta })),
      typed("response.output_item.done", { output_index: 0, item: item(reply) }),
      typed("response.completed", { response: response(model, [item(reply)]) }),
    ];
  },

  failure: (status, message) => ({
    error: { message, type: status === 401 ? "invalid_request_error" : "server_error", code: null, param: null },
  }),
};

const typed = (type: string, fields: object): SseEvent => ({ event: type, data: { type, ...fields } });

const response = (model: string, output: object[]) => ({
  id: "resp_scripted",
  object: "response",
  status: "completed",
  model,
  output,
  usage: {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  },
});

function item(reply: Reply) {
  if (reply.kind === "text") {
    const content = [{ type: "output_text", text: reply.text, annotations: [] }];
    return { type: "message", id: "msg_scripted", role: "assistant", status: "completed", content };
  }
  const { name, namespace } = reply.tool;
  return {
    type: "function_call",
    id: `fc_${reply.callId}`,
    call_id: reply.callId,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: JSON.stringify(reply.arguments),
    status: "completed",
  };
}
