import { type Dialect, inTwo, type ModelRequest, type Reply, toolResult, usage } from "./dialect.ts";

interface Body {
  tools?: { functionDeclarations?: { name: string }[] }[];
  contents: { parts?: { functionResponse?: { id?: string; response?: Record<string, unknown> } }[] }[];
  generationConfig?: { responseMimeType?: string };
}

const path = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** Gemini generateContent and streamGenerateContent (SSE, or one JSON list without `alt=sse`). */
export const gemini: Dialect = {
  name: "gemini",
  matches: (url) => path.test(url.pathname),

  read(body, url): ModelRequest {
    const { tools = [], contents, generationConfig } = body as Body;
    const [, model = "", method] = path.exec(url.pathname) ?? [];
    const streamed = url.searchParams.get("alt") === "sse" ? "sse" : "list";
    return {
      model,
      form: method === "generateContent" ? "whole" : streamed,
      wantsJson: generationConfig?.responseMimeType === "application/json",
      tools: tools.flatMap((group) => group.functionDeclarations ?? []).map(({ name }) => ({ name })),
      results: contents
        .flatMap(({ parts = [] }) => parts)
        .flatMap(({ functionResponse: answer }) =>
          answer ? [toolResult(answer.id ?? "", answer.response?.output ?? answer.response)] : [],
        ),
    };
  },

  whole: (reply, { model }) => answer(model, [part(reply)], true),

  events(reply, { model }) {
    if (reply.kind === "tool") return [{ data: answer(model, [part(reply)], true) }];
    const [first, rest] = inTwo(reply.text);
    return [{ data: answer(model, [{ text: first }], false) }, { data: answer(model, [{ text: rest }], true) }];
  },

  failure: (status, message) => ({
    error: { code: status, message, status: status === 401 ? "UNAUTHENTICATED" : "INTERNAL" },
  }),
};

const part = (reply: Reply) =>
  reply.kind === "text"
    ? { text: reply.text }
    : { functionCall: { id: reply.callId, name: reply.tool.name, args: reply.arguments } };

const answer = (model: string, parts: object[], last: boolean) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...(last ? { finishReason: "STOP" } : {}) }],
  modelVersion: model,
  usageMetadata: {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  },
});
