import { describe, expect, test } from "vitest";
import { type ChatId, type Grant, type OperationName, type Route, routes } from "../../../src/contract/index.ts";
import type { TokenBook } from "../../../src/http/index.ts";
import type { Operations } from "../../../src/operations/index.ts";
import { createDoor, jsonOf, noTokens, onTcp, request, TOKEN } from "../../support/http-door.ts";

/**
 * Who may call what, decided by hand for every route. A route without a line here does not compile, and one whose marks
 * (`changes`, `unscoped`, `open`) say something else fails.
 * read: every token. change: not one that may only read. daemon…: not one that is bound to a chat. judged: by the operation.
 */
const decisions: Record<OperationName, "open" | "read" | "change" | "daemon-read" | "daemon-change" | "judged"> = {
  "process.start": "change",
  "process.list": "read",
  "process.adopt": "daemon-change",
  "process.by-token": "read",
  "process.get": "read",
  "process.output": "read",
  "process.signal": "change",
  "process.stop": "change",
  "process.wait": "read",
  "process.log": "read",
  "process.search": "read",
  "process.stream": "read",
  "process.attach": "read",
  "process.stdin": "change",
  "process.resize": "change",
  "process.tree": "read",
  "process.delete": "change",
  "file.list": "read",
  "file.resolve": "read",
  "file.read": "read",
  "file.read-lines": "read",
  "file.write": "change",
  "file.edit": "change",
  "git.watch": "read",
  "git.status": "read",
  "git.stream": "read",
  "tool.list": "read",
  "tool.call": "judged",
  "token.create": "daemon-change",
  "token.list": "daemon-read",
  "token.revoke": "daemon-change",
  "chat.end": "change",
  "events.stream": "read",
  "daemon.status": "daemon-read",
  "daemon.shutdown": "daemon-change",
  "daemon.metrics": "daemon-read",
  "daemon.openapi": "read",
  "daemon.health": "open",
};

const chatId = "11111111-1111-4111-8111-111111111111" as ChatId;
const scope = { kind: "chat", chatId, descendants: true } as const;
const grants: Record<string, Grant> = {
  all: { scope: { kind: "all" }, readOnly: false, tokenId: "1" },
  "all, read-only": { scope: { kind: "all" }, readOnly: true, tokenId: "2" },
  chat: { scope, readOnly: false, tokenId: "3" },
  "chat, read-only": { scope, readOnly: true, tokenId: "4" },
};

/** Every operation says that it was reached by failing in a way that nothing else does. */
const reached = new Proxy({} as Operations, {
  get: () => () => {
    throw new Error("reached");
  },
});

async function outcomeOf(name: OperationName, grant: Grant): Promise<string> {
  const tokens: TokenBook = { ...noTokens, find: () => grant };
  const route: Route = routes[name];
  const door = createDoor(reached, { auth: { token: TOKEN, tokens, allowedHosts: [], allowedOrigins: [] } });
  const path = route.path.replaceAll(/\{\w+\}/g, chatId);
  const body = route.method === "POST" ? "not read before the right is known" : undefined;
  const headers = { authorization: "Bearer another", "coder-chat-id": chatId };
  const response = await door.fetch(request(route.method, path, { headers, ...(body && { body }) }), onTcp);
  if (response.status === 403) return String((await jsonOf(response))["code"]);
  return response.status === 401 ? "refused" : "in";
}

describe("a token", () => {
  for (const [title, grant] of Object.entries(grants)) {
    test.each(Object.entries(decisions) as [OperationName, string][])(
      `for ${title}: %s (%s)`,
      async (name, decision) => {
        const isBound = grant.scope.kind === "chat" && decision.startsWith("daemon");
        const isReading = grant.readOnly && decision.endsWith("change");
        const expected = isBound ? "auth/out-of-scope" : isReading ? "auth/read-only" : "in";
        expect(await outcomeOf(name, grant)).toBe(expected);
      },
    );
  }

  test("every route has a decision, and its marks say the same", () => {
    expect(Object.keys(decisions).toSorted()).toEqual(Object.keys(routes).toSorted());
    for (const [name, decision] of Object.entries(decisions) as [OperationName, string][]) {
      const { changes, unscoped, open }: Route = routes[name];
      expect([name, changes === true], name).toEqual([name, decision.endsWith("change")]);
      expect([name, unscoped === true], name).toEqual([name, decision.startsWith("daemon")]);
      expect([name, open === true], name).toEqual([name, decision === "open"]);
    }
  });
});
