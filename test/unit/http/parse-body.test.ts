import { describe, expect, test } from "vitest";
import { Fault } from "../../../src/contract/index.ts";
import { operations } from "../../../src/contract/schemas.ts";
import { createBodyParser } from "../../../src/http/parse-body.ts";

const parse = createBodyParser(operations["process.start"].body);

function faultOf(text: string, strict = false, parser = parse): Fault {
  try {
    parser(text, strict);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe("a body is read as Go's decoder reads it", () => {
  test.each<[string, string, object]>([
    ["a plain object", '{"command":"true"}', { command: "true" }],
    ["white space around it", ' \r\n\t{"command":"true"}\n', { command: "true" }],
    ["bytes after the first value", '{"command":"true"} trailing {', { command: "true" }],
    ["a second value", '{"command":"a"}{"command":"b"}', { command: "a" }],
    ["braces and quotes inside strings", '{"command":"echo \\"}{\\\\"}x', { command: 'echo "}{\\' }],
    ["names in any case", '{"COMMAND":"a","WorkDir":"/"}', { command: "a", workdir: "/" }],
    ["the exact name before another case", '{"Command":"b","command":"a"}', { command: "a" }],
    ["the exact name after another case", '{"command":"a","Command":"b"}', { command: "a" }],
    ["null as absent", '{"command":null,"env":null,"background":null,"wait":null}', {}],
    ["null inside nested objects as absent", '{"wait":{"cursor":null,"for":{"exit":null}}}', { wait: { for: {} } }],
    ["null in a map as the empty text", '{"env":{"A":null,"B":"b"}}', { env: { A: "", B: "b" } }],
    ["null for the whole body", "null", {}],
    ["null with bytes behind it", "null,", {}],
    ["the last of a name given twice", '{"command":"a","command":"b"}', { command: "b" }],
    ["unknown names", '{"command":"a","nothing":[1,{"x":2}]}', { command: "a" }],
    ["blanks only as a command", '{"command":"  "}', { command: "  " }],
    ["names in any case inside our own objects", '{"stdin":{"Open":true}}', { stdin: { open: true } }],
  ])("accepts %s", (_, text, expected) => {
    expect(parse(text, false)).toEqual(expected);
  });

  test.each<[string, string, RegExp]>([
    ["an empty body", "", /empty/],
    ["white space only", " \n", /empty/],
    ["text that is not JSON", "command=true", /JSON/],
    ["an object that does not end", '{"command":"true"', /JSON/],
    ["single quotes", "{'command':'true'}", /JSON/],
    ["an array", "[]", /must be an object, not an array/],
    ["a number", "5", /must be an object, not a number/],
    ["a string", '"true"', /must be an object, not a string/],
    ["a number for text", '{"command":5}', /"command" must be a string, not a number/],
    ["text for a boolean", '{"background":"true"}', /"background" must be a boolean, not a string/],
    ["an array for a map", '{"env":[]}', /"env" must be an object, not an array/],
    ["a number inside a map", '{"env":{"A":5}}', /"env.A" must be a string, not a number/],
    ["a fraction for an integer", '{"cols":1.5}', /"cols" must be an integer, not the number 1.5/],
    ["a number for one of some words", '{"streams":1}', /"streams" must be a string, not a number/],
    ["neither form of stdin", '{"stdin":5}', /"stdin" must be a string or an object, not a number/],
  ])("refuses %s", (_, text, detail) => {
    const fault = faultOf(text);
    expect(fault).toMatchObject({ code: "request/invalid-json", message: "Request body must be valid JSON." });
    expect(fault.detail).toMatch(detail);
  });

  test.each<[string, string, string]>([
    ["a number below its bound", '{"cols":0}', "cols"],
    ["a word that is not one of them", '{"on_chat_end":"burn"}', "on_chat_end"],
    ["an empty argv", '{"argv":[]}', "argv"],
    ["a value deep inside", '{"wait":{"for":{"port":70000}}}', "wait.for.port"],
    ["a stdin that is not open", '{"stdin":{"open":false}}', "stdin"],
  ])("names the field of %s", (_, text, field) => {
    const fault = faultOf(text);
    expect(fault.code).toBe("request/invalid");
    expect(fault.validations).toMatchObject([{ field }]);
  });

  test("names every field that is missing", () => {
    const fault = faultOf("{}", false, createBodyParser(operations["process.resize"].body));
    expect(fault.code).toBe("request/invalid");
    expect(fault.validations?.map((v) => v.field)).toEqual(["cols", "rows"]);
  });

  test("a key named __proto__ changes nothing", () => {
    const parsed = parse('{"__proto__":{"command":"x"},"command":"a","env":{"__proto__":null,"A":"b"}}', false);
    expect(Object.hasOwn(parsed, "command")).toBe(true);
    expect(({} as Record<string, unknown>)["command"]).toBeUndefined();
    expect((parsed as { env: object }).env).toMatchObject({ A: "b" });
  });

  test("deep nesting is refused without a stack overflow", () => {
    expect(faultOf("[".repeat(1_000_000)).code).toBe("request/invalid-json");
    expect(parse(`{"command":"a","x":${"[".repeat(1000)}${"]".repeat(1000)}}`, false)).toEqual({ command: "a" });
  });
});

describe("a strict body", () => {
  test.each([
    ['{"comand":"true"}', "comand", '"command"'],
    ['{"wait":{"timout_ms":5}}', "wait.timout_ms", '"timeout_ms"'],
    ['{"wait":{"for":{"prot":5}}}', "wait.for.prot", '"port"'],
  ])("with an unknown field is refused with the nearest one: %s", (text, field, meant) => {
    const fault = faultOf(text, true);
    expect(fault.code).toBe("request/unknown-field");
    expect(fault.message).toContain(meant);
    expect(fault.validations?.[0]?.field).toBe(field);
  });

  test("names the place in a list", () => {
    const stop = createBodyParser(operations["process.stop"].body);
    const fault = faultOf('{"signals":[{"signal":"INT"},{"signl":"TERM"}]}', true, stop);
    expect(fault.validations?.[0]?.field).toBe("signals[1].signl");
  });

  test("may hold any environment name", () => {
    expect(parse('{"command":"a","env":{"ANY":"1"}}', true)).toEqual({ command: "a", env: { ANY: "1" } });
  });
});
