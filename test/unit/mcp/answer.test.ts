import { ProtocolError } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { Fault } from "../../../src/contract/index.ts";
import { toFailure, toResult, toText } from "../../../src/mcp/answer.ts";
import { formatLogUri, parseLogUri } from "../../../src/mcp/log-uri.ts";

describe("toText", () => {
  test.each([
    [{ success: true, output: "a\nb\n", exit_code: 0 }, 'a\nb\n{"success":true,"exit_code":0}'],
    [{ success: true, output: "no line end" }, 'no line end\n{"success":true}'],
    [{ success: true, content: "1\tx\n", total_lines: 1 }, '1\tx\n{"success":true,"total_lines":1}'],
    [{ success: true, output: "" }, '{"success":true,"output":""}'],
    [{ processes: [] }, '{"processes":[]}'],
  ])("output as it is, then the facts in the last line: %j", (value, text) => {
    expect(toText(value)).toBe(text);
  });

  test("whatever a command prints, the last line is the facts", () => {
    const text = toText({ success: false, output: '{"success":true}\n', exit_code: 1 });
    expect(JSON.parse(text.split("\n").at(-1) ?? "")).toEqual({ success: false, exit_code: 1 });
  });
});

describe("isError", () => {
  test.each([
    [{ success: false, exit_code: 1, process_id: "p" }, undefined],
    [{ success: false, error: "command timed out after 10s", process_id: "p", running: true }, undefined],
    [{ success: false, error: "no such directory" }, true],
    [{ processes: [] }, undefined],
  ])("a command that fails is a result, nothing having been done is an error: %j", (value, isError) => {
    expect(toResult(value).isError).toBe(isError);
    expect(toResult(value).structuredContent).toBe(value);
  });

  test("a fault is a result that says what is wrong", () => {
    const fault = new Fault("tool/bad-arguments", "No.", { validations: [{ field: "a", detail: "is wrong" }] });
    expect(toFailure(fault)).toEqual({ content: [{ type: "text", text: "No.\na: is wrong" }], isError: true });
  });

  test("an unknown tool and a bug are errors of the protocol", () => {
    expect(() => toFailure(new Fault("tool/unknown", "No tool."))).toThrow(ProtocolError);
    expect(() => toFailure(new TypeError("x"))).toThrow(TypeError);
  });
});

describe("log addresses", () => {
  test("are read as they are written", () => {
    expect(parseLogUri(formatLogUri("abc"))).toEqual({ id: "abc", from: undefined });
    expect(parseLogUri(formatLogUri("abc", 0))).toEqual({ id: "abc", from: 0 });
  });

  test.each([
    "",
    "drover://process//log",
    "drover://process/a/b/log",
    "drover://process/a/log?from=-1",
    "file:///a",
    "drover://process/../log/x",
  ])("none is none: %s", (uri) => {
    expect(parseLogUri(uri)).toBeUndefined();
  });
});
