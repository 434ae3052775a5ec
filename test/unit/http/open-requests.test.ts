import { describe, expect, test } from "vitest";
import { Fault, type Grant } from "../../../src/contract/index.ts";
import type { TokenBook } from "../../../src/http/index.ts";
import { OpenRequests } from "../../../src/http/open-requests.ts";
import { createDoor, jsonOf, noTokens, onTcp, request, TOKEN } from "../../support/http-door.ts";

const revoked = () => new Fault("auth/wrong-token", "revoked");
const grant: Grant = { scope: { kind: "all" }, readOnly: false, tokenId: "a" };

describe("open requests", () => {
  test("of one token end together, and only those", () => {
    const open = new OpenRequests(noTokens);
    const ended: string[] = [];
    const add = (tokenId: string | undefined, name: string) =>
      open.add({ tokenId }, (why) => ended.push(`${name} ${why.code}`));
    add("a", "a1");
    add("a", "a2");
    add("b", "b1");
    add(undefined, "home");
    add("a", "a3")();
    open.endToken("a", revoked());
    expect(ended).toEqual(["a1 auth/wrong-token", "a2 auth/wrong-token"]);
    open.endToken("a", revoked());
    open.endAll();
    expect(ended.slice(2)).toEqual(["b1 daemon/shutting-down", "home daemon/shutting-down"]);
  });

  test("one that comes after the end of its token, or of the daemon, ends at once", async () => {
    const open = new OpenRequests({ refusal: (id) => (id === "a" ? revoked() : undefined) });
    const ended: string[] = [];
    open.add({ tokenId: "a" }, (why) => ended.push(why.code));
    open.add({ tokenId: "b" }, (why) => ended.push(why.code));
    open.endAll();
    open.add({}, (why) => ended.push(why.code));
    await Promise.resolve();
    expect(ended.toSorted()).toEqual(["auth/wrong-token", "daemon/shutting-down", "daemon/shutting-down"]);
  });

  test("a token that is revoked while the body is still on its way starts nothing", async () => {
    let isRevoked = false;
    const tokens: TokenBook = { ...noTokens, find: () => grant, refusal: () => (isRevoked ? revoked() : undefined) };
    const started: unknown[] = [];
    const door = createDoor(
      {
        "process.start": (input) => {
          started.push(input);
          return { id: "i", started: true, started_at: "now" };
        },
      },
      { auth: { token: TOKEN, tokens, allowedHosts: [], allowedOrigins: [] } },
    );
    const body = new ReadableStream({
      pull(controller) {
        isRevoked = true;
        controller.enqueue(new TextEncoder().encode('{"command":"true"}'));
        controller.close();
      },
    });
    const headers = { authorization: "Bearer another" };
    const response = await door.fetch(request("POST", "/api/v0/processes/start", { body, headers }), onTcp);
    expect([response.status, (await jsonOf(response))["code"]]).toEqual([401, "auth/wrong-token"]);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(started).toEqual([]);
  });
});
