import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { ModelServer, type Turn } from "../support/model-server.ts";

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(script: readonly Turn[]): Promise<ModelServer> {
  const server = await ModelServer.start(script);
  servers.push(server);
  return server;
}

const post = (url: string, body: unknown, signal?: AbortSignal) =>
  fetch(url, { method: "POST", body: JSON.stringify(body), ...(signal ? { signal } : {}) });

/** The data of every event; `[DONE]` is left out. */
const events = (text: string): unknown[] =>
  [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = ""]) => (data === "[DONE]" ? [] : [JSON.parse(data)]));

interface Client {
  path: string;
  streamPath?: string;
  /** A request that offers the tools and holds these results. */
  ask(tools: string[], results: string[], stream: boolean): object;
  /** What a client would make of an answer: a call, or a text. */
  whole(answer: never): unknown;
  stream(events: never[]): unknown;
}

const made = (name: string, text: string) => ({ name, arguments: JSON.parse(text) as unknown });

const clients: Record<string, Client> = {
  anthropic: {
    path: "/v1/messages?beta=true",
    ask: (tools, results, stream) => ({
      model: "m",
      stream,
      tools: tools.map((name) => ({ name })),
      messages: [
        { role: "user", content: "go" },
        ...results.map((text, i) => ({
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t${i}`, content: [{ type: "text", text }] }],
        })),
      ],
    }),
    whole: ({ content: [block] }: { content: [{ text?: string; name: string; input: object }] }) =>
      block.text ?? { name: block.name, arguments: block.input },
    stream(list: { content_block?: { name?: string }; delta?: { text?: string; partial_json?: string } }[]) {
      const name = list.find((event) => event.content_block)?.content_block?.name;
      const text = list.map(({ delta }) => delta?.text ?? delta?.partial_json ?? "").join("");
      return name === undefined ? text : made(name, text);
    },
  },
  "openai-responses": {
    path: "/v1/responses",
    ask: (tools, results, stream) => ({
      model: "m",
      stream,
      tools: tools.map((name) => ({ type: "function", name })),
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
        ...results.map((output, i) => ({ type: "function_call_output", call_id: `t${i}`, output })),
      ],
    }),
    whole: ({ output: [item] }: { output: [ResponsesItem] }) => ofItem(item),
    stream: (list: { type: string; item?: ResponsesItem; delta?: string }[]) => {
      const item = list.find(({ type }) => type === "response.output_item.done")?.item;
      const text = list.map(({ delta }) => delta ?? "").join("");
      expect(item?.content?.[0].text ?? item?.arguments).toBe(text);
      return item && ofItem(item);
    },
  },
  "openai-chat": {
    path: "/v1/chat/completions",
    ask: (tools, results, stream) => ({
      model: "m",
      stream,
      tools: tools.map((name) => ({ type: "function", function: { name } })),
      messages: [
        { role: "user", content: "go" },
        ...results.map((content, i) => ({ role: "tool", tool_call_id: `t${i}`, content })),
      ],
    }),
    whole: ({ choices: [{ message }] }: { choices: [{ message: ChatDelta }] }) => ofChat([message]),
    stream: (list: { choices: { delta: ChatDelta }[] }[]) =>
      ofChat(list.flatMap(({ choices }) => choices.map(({ delta }) => delta))),
  },
  gemini: {
    path: "/v1beta/models/m:generateContent",
    streamPath: "/v1beta/models/m:streamGenerateContent?alt=sse",
    ask: (tools, results) => ({
      tools: [{ functionDeclarations: tools.map((name) => ({ name })) }],
      contents: [
        { role: "user", parts: [{ text: "go" }] },
        ...results.map((output, i) => ({
          role: "user",
          parts: [{ functionResponse: { id: `t${i}`, name: "look", response: { output } } }],
        })),
      ],
    }),
    whole: (answer: GeminiAnswer) => ofGemini([answer]),
    stream: (list: GeminiAnswer[]) => ofGemini(list),
  },
};

interface ResponsesItem {
  name: string;
  arguments: string;
  content?: [{ text: string }];
}
const ofItem = (item: ResponsesItem) => item.content?.[0].text ?? made(item.name, item.arguments);

interface ChatDelta {
  content?: string | null;
  tool_calls?: [{ function: { name?: string; arguments: string } }];
}
function ofChat(parts: ChatDelta[]): unknown {
  const calls = parts.flatMap((part) => part.tool_calls ?? []).map((call) => call.function);
  if (calls.length === 0) return parts.map(({ content }) => content ?? "").join("");
  return made(calls[0]?.name ?? "", calls.map((call) => call.arguments).join(""));
}

interface GeminiAnswer {
  candidates: [{ content: { parts: { text?: string; functionCall?: { name: string; args: object } }[] } }];
}
function ofGemini(answers: GeminiAnswer[]): unknown {
  const parts = answers.flatMap((answer) => answer.candidates[0].content.parts);
  const call = parts.find((part) => part.functionCall)?.functionCall;
  return call ? { name: call.name, arguments: call.args } : parts.map(({ text }) => text ?? "").join("");
}

describe.each(Object.entries(clients))("%s", (name, client) => {
  const script: Turn[] = [
    { tool: "look", arguments: { at: "é\n1" } },
    { tool: "look", arguments: (context) => ({ id: context.found("id"), seen: context.results.length }) },
    { text: "The end." },
  ];
  const result = 'Wall time: 1 s\nOutput:\n{\n  "id": "p1"\n}\n</context>';
  const steps: [results: string[], answer: unknown][] = [
    [[], { name: "look", arguments: { at: "é\n1" } }],
    [[result], { name: "look", arguments: { id: "p1", seen: 1 } }],
    [[result, "plain words"], "The end."],
    [[result, "plain words", "more"], "Done."],
  ];

  test.each([true, false])("plays its script by the number of results (stream: %s)", async (stream) => {
    const server = await start(script);
    const path = (stream ? client.streamPath : undefined) ?? client.path;
    for (const [results, answer] of [...steps, ...steps]) {
      const text = await (await post(server.url + path, client.ask(["other", "look"], results, stream))).text();
      const read = stream ? client.stream(events(text) as never[]) : client.whole(JSON.parse(text) as never);
      expect(read).toEqual(answer);
    }
    expect(server.problems).toEqual([]);
    expect(server.requests[1]).toMatchObject({
      dialect: name,
      path,
      request: { tools: [{ name: "other" }, { name: "look" }], results: [{ callId: "t0", value: { id: "p1" } }] },
      answer: { kind: "tool", arguments: { id: "p1" } },
    });
    expect(server.results.map(({ text }) => text)).toEqual([result, "plain words", "more"]);
  });

  test("answers a call without tools with a text, and fails as often as it is told", async () => {
    const server = await start([{ text: "Well.", failing: { how: { status: 401 }, times: 2 } }]);
    const ask = (tools: string[]) => post(server.url + client.path, client.ask(tools, [], false));
    expect(client.whole((await (await ask([])).json()) as never)).toBe("Done.");
    for (const status of [401, 401, 200]) {
      const answer = await ask(["look"]);
      expect(answer.status).toBe(status);
      const body = (await answer.json()) as { error?: { message: string } };
      expect(body.error?.message ?? client.whole(body as never)).toMatch(status === 401 ? /401/ : /Well\./);
    }
    expect(server.requests.map(({ answer }) => answer)).toMatchObject([
      { kind: "text" },
      { status: 401 },
      { status: 401 },
      { kind: "text" },
    ]);
  });

  test("hangs and cuts as it is told", async () => {
    const server = await start([{ text: "Never.", failing: { how: "hang", times: 1 } }]);
    const body = client.ask(["look"], [], true);
    await expect(post(server.url + client.path, body, AbortSignal.timeout(100))).rejects.toThrow(/abort/);
    expect(server.requests[0]?.answer).toBe("hang");
    const cutting = await start([{ text: "Half of this.", failing: { how: "cut", times: 1 } }]);
    const half = await post(cutting.url + client.path, body);
    expect(half.status).toBe(200);
    await expect(half.text()).rejects.toThrow(/terminated/);
  });
});

describe("the model server", () => {
  test("reads tools in groups and calls one by both names", async () => {
    const server = await start([{ tool: "mcp__drover.execute", arguments: {} }]);
    const tools = [{ type: "namespace", name: "mcp__drover", tools: [{ type: "function", name: "execute" }] }];
    const answer = await post(`${server.url}/v1/responses`, { model: "m", input: "go", tools });
    expect(await answer.json()).toMatchObject({ output: [{ name: "execute", namespace: "mcp__drover" }] });
  });

  test("streams Gemini's list form and answers its JSON calls with JSON", async () => {
    const server = await start([]);
    const contents = [{ parts: [{ text: "go" }] }];
    const list = await post(`${server.url}/v1beta/models/m:streamGenerateContent`, { contents });
    expect(ofGemini((await list.json()) as GeminiAnswer[])).toBe("Done.");
    const generationConfig = { responseMimeType: "application/json" };
    const json = await post(`${server.url}/v1beta/models/m:generateContent`, { contents, generationConfig });
    expect(ofGemini([(await json.json()) as GeminiAnswer])).toBe("{}");
  });

  test("says which tool it misses, and which result", async () => {
    const server = await start([
      { tool: "gone", arguments: {} },
      { tool: "look", arguments: (context) => ({ id: context.found("id") }) },
    ]);
    const client = clients["openai-chat"] as Client;
    const ask = (results: string[]) => post(server.url + client.path, client.ask(["look"], results, false));
    expect(client.whole((await (await ask([])).json()) as never)).toBe("gone is not offered; offered: look");
    expect((await ask(["no object"])).status).toBe(500);
    expect(server.problems).toEqual([
      "gone is not offered; offered: look",
      expect.stringMatching(/no tool result has id/),
    ]);
  });

  test("records and refuses unknown paths and ways to other machines", async () => {
    const server = await start([]);
    expect((await post(`${server.url}/v1/other?a=1`, "x")).status).toBe(404);
    expect((await fetch(`${server.url}/v1/messages`)).status).toBe(404);
    const status = await new Promise<number | undefined>((done, fail) => {
      const connect = request(server.url, { method: "CONNECT", path: "example.com:443" });
      connect
        .on("connect", (response) => done(response.statusCode))
        .on("error", fail)
        .end();
    });
    expect(status).toBe(403);
    expect(server.requests.map(({ method, path }) => [method, path])).toEqual([
      ["POST", "/v1/other?a=1"],
      ["GET", "/v1/messages"],
      ["CONNECT", "example.com:443"],
    ]);
  });
});
