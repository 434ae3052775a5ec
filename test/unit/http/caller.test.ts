import { describe, expect, test } from "vitest";
import type { ChatId, Grant } from "../../../src/contract/index.ts";
import { readAsker, toCaller } from "../../../src/http/caller.ts";

const chat = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
const other = "1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
const { signal } = new AbortController();

const all: Grant = { scope: { kind: "all" }, readOnly: false };
const read = (headers: Record<string, string>, grant = all) =>
  toCaller(
    readAsker((name) => headers[name], signal),
    grant,
  );

test.each([
  ["canonical", chat],
  ["upper case", chat.toUpperCase()],
  ["in braces", `{${chat}}`],
  ["as a URN", `urn:uuid:${chat}`],
  ["32 digits", chat.replaceAll("-", "")],
  ["given twice, the first", `${chat}, ${other}`],
])("a chat id %s is understood", (_, text) => {
  expect(read({ "coder-chat-id": text }).chatId).toBe(chat);
});

test.each([
  ["absent", undefined],
  ["empty", ""],
  ["no UUID", "chat-5"],
  ["all zero", "00000000-0000-0000-0000-000000000000"],
])("a chat id that is %s means no chat", (_, text) => {
  const caller = read({
    ...(text === undefined ? {} : { "coder-chat-id": text }),
    "coder-ancestor-chat-ids": `["${other}"]`,
  });
  expect(caller.chatId).toBeUndefined();
  expect(caller.ancestorChatIds).toEqual([]);
});

test.each<[string, string, string[]]>([
  ["a list", `["${other.toUpperCase()}"]`, [other]],
  ["bad entries", `["x","${other}",null,""]`, [other]],
  ["null", "null", []],
  ["bad JSON", `["${other}"`, []],
  ["an entry that is no text", `["${other}",5]`, []],
  ["an object", "{}", []],
])("ancestors: %s", (_, text, expected) => {
  expect(read({ "coder-chat-id": chat, "coder-ancestor-chat-ids": text }).ancestorChatIds).toEqual(expected);
});

describe("with a token of a chat", () => {
  const bound: Grant = {
    scope: { kind: "chat", chatId: chat as ChatId, descendants: false },
    readOnly: true,
    tokenId: "t",
  };

  test.each([
    ["absent", undefined],
    ["the same", chat.toUpperCase()],
    ["no UUID", "chat-5"],
    ["all zero", "00000000-0000-0000-0000-000000000000"],
  ])("a header that is %s leaves the chat to the token", (_, text) => {
    const headers = { ...(text && { "coder-chat-id": text }), "coder-ancestor-chat-ids": `["${other}"]` };
    expect(read(headers, bound)).toMatchObject({ ...bound, chatId: chat, ancestorChatIds: [other] });
  });

  test("a header that names another chat is refused", () => {
    expect(() => read({ "coder-chat-id": other }, bound)).toThrow(
      expect.objectContaining({ code: "auth/chat-mismatch" }),
    );
  });
});

test("a sane request id is taken over, any other is replaced", () => {
  expect(read({ "x-request-id": "req-1.a:b" }).requestId).toBe("req-1.a:b");
  for (const bad of ["", "two words", "a".repeat(200), "new\nline"]) {
    expect(read({ "x-request-id": bad }).requestId).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test("only a well-formed trace context is kept", () => {
  const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  expect(read({ traceparent: trace }).traceparent).toBe(trace);
  expect(read({ traceparent: "junk" }).traceparent).toBeUndefined();
});

test("strict is said by exactly 1", () => {
  expect(read({ "drover-strict": "1" }).strict).toBe(true);
  expect(read({ "drover-strict": "true" }).strict).toBe(false);
  expect(read({}).strict).toBe(false);
});
