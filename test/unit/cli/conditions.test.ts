import { describe, expect, it } from "vitest";
import { addCondition } from "../../../src/cli/conditions.ts";

describe("addCondition", () => {
  it.each([
    ["exit", { exit: true }],
    ["port:3000", { port: 3000 }],
    ["match:ready: (\\d+)", { match: "ready: (\\d+)" }],
    ["http:3000/health", { http: "http://127.0.0.1:3000/health" }],
    ["http://localhost:8080/", { http: "http://localhost:8080/" }],
    ["http:http://localhost:8080/", { http: "http://localhost:8080/" }],
    ["http:localhost:8080", { http: "http://localhost:8080" }],
    ["idle:5s", { idle_ms: 5_000 }],
    ["bytes:10k", { bytes: 10_240 }],
    ["activity:waiting-line", { activity: "waiting_line" }],
  ])("reads %s", (text, expected) => expect(addCondition(text, undefined)).toEqual(expected));

  it("joins several and refuses two of one kind", () => {
    expect(addCondition("exit", addCondition("port:1", undefined))).toEqual({ exit: true, port: 1 });
    expect(() => addCondition("port:2", { port: 1 })).toThrow(/Only one `port`/);
  });

  it.each([
    ["prot:3000", /Did you mean `port`/],
    ["port:0", /1 to 65535/],
    ["match:", /match:…/],
    ["activity:waiting_lines", /waiting_line/],
    ["nonsense", /Known are exit, port/],
  ])("refuses %s with advice", (text, message) => expect(() => addCondition(text, undefined)).toThrow(message));
});
