import { describe, expect, test } from "vitest";
import { Fault } from "../../../src/contract/index.ts";
import { createGate, type Door } from "../../../src/http/auth.ts";
import { noTokens } from "../../support/http-door.ts";

const gate = createGate({
  token: "right",
  tokens: noTokens,
  allowedHosts: ["box.example", "proxy.example:8443"],
  allowedOrigins: ["https://app.example"],
});
const tcp: Door = { kind: "tcp", port: 7333 };
const good = { host: "127.0.0.1:7333", authorization: "Bearer right" };

function enter(headers: Record<string, string>, o: { door?: Door; open?: boolean; upgrade?: boolean } = {}): string {
  const visitor = { door: tcp, open: false, ...o, header: (name: string) => headers[name] };
  try {
    const origin = gate.checkSource(visitor);
    gate.checkToken(visitor);
    return origin ?? "in";
  } catch (error) {
    return error instanceof Fault ? error.code : "bug";
  }
}

describe("token", () => {
  test.each([
    ["Bearer right", "in"],
    ["bearer right", "in"],
    ["Bearer  right ", "in"],
    ["Bearer wrong", "auth/wrong-token"],
    ["Bearer right2", "auth/wrong-token"],
    ["Bearer", "auth/required"],
    ["Basic right", "auth/required"],
    ["", "auth/required"],
  ])("%j on TCP: %s", (authorization, expected) => {
    expect(enter({ ...good, authorization })).toBe(expected);
  });

  test("is not needed on the Unix socket, nor on an open route", () => {
    expect(enter({ host: "anything" }, { door: { kind: "unix" } })).toBe("in");
    expect(enter({ host: "localhost:7333" }, { open: true })).toBe("in");
  });

  test("may come as a subprotocol of a WebSocket, and only there", () => {
    const headers = { host: "localhost:7333", "sec-websocket-protocol": "drover, drover.token.right" };
    expect(enter(headers, { upgrade: true })).toBe("in");
    expect(enter(headers)).toBe("auth/required");
    expect(enter({ ...headers, "sec-websocket-protocol": "drover.token.no" }, { upgrade: true })).toBe(
      "auth/wrong-token",
    );
  });
});

describe("Host on TCP", () => {
  test.each([
    ["127.0.0.1:7333", "in"],
    ["localhost:7333", "in"],
    ["LOCALHOST:7333", "in"],
    ["[::1]:7333", "in"],
    ["box.example", "in"],
    ["box.example:9999", "in"],
    ["proxy.example:8443", "in"],
    ["proxy.example", "auth/foreign-host"],
    ["localhost", "auth/foreign-host"],
    ["localhost:80", "auth/foreign-host"],
    ["evil.example:7333", "auth/foreign-host"],
    ["localhost.evil.example:7333", "auth/foreign-host"],
    ["127.0.0.1:7333.evil.example", "auth/foreign-host"],
    ["", "auth/foreign-host"],
  ])("%j: %s", (host, expected) => {
    expect(enter({ ...good, host })).toBe(expected);
  });

  test("is checked on open routes too", () => {
    expect(enter({ host: "evil.example:7333" }, { open: true })).toBe("auth/foreign-host");
  });

  test("may lack the port when that is 80", () => {
    expect(enter({ ...good, host: "localhost" }, { door: { kind: "tcp", port: 80 } })).toBe("in");
  });
});

describe("Origin", () => {
  test.each([
    ["http://127.0.0.1:7333", "in"],
    ["https://app.example", "https://app.example"],
    ["http://localhost:7333", "auth/foreign-origin"],
    ["https://127.0.0.1:7333", "auth/foreign-origin"],
    ["http://127.0.0.1:3000", "auth/foreign-origin"],
    ["https://evil.example", "auth/foreign-origin"],
    ["null", "auth/foreign-origin"],
    ["", "auth/foreign-origin"],
  ])("%j on TCP: %s", (origin, expected) => {
    expect(enter({ ...good, origin })).toBe(expected);
  });

  test("is refused on the Unix socket unless it is allowed", () => {
    const door: Door = { kind: "unix" };
    expect(enter({ host: "localhost", origin: "http://localhost" }, { door })).toBe("auth/foreign-origin");
    expect(enter({ host: "localhost", origin: "https://app.example" }, { door })).toBe("https://app.example");
  });
});
