import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern, findLines, findMatch, stripEscapes } from "../../../src/process/pattern.ts";

const pattern = (source: string, ignoreCase = false) => ({ source, isRegex: true, ignoreCase });
const literal = (source: string, ignoreCase = false) => ({ source, isRegex: false, ignoreCase });
const match = (source: string, data: Uint8Array, skip = 0) =>
  findMatch({ kind: "match", pattern: pattern(source), data, base: 1000, skip });

describe("a match", () => {
  test("has exact byte offsets", () => {
    expect(match("€+", Buffer.from("aé€€b"))).toEqual({ text: "€€", from: 1003, to: 1009 });
    expect(match("b", Buffer.from([0xff, 0xe2, 0x82, 0x62]))).toEqual({ text: "b", from: 1003, to: 1004 });
    expect(match("x", Buffer.from("abc"))).toBeUndefined();
  });

  test("begins behind what is skipped, but knows it", () => {
    expect(match("go", Buffer.from("go go"), 1)).toMatchObject({ from: 1003 });
    expect(match("^go", Buffer.from("a go"), 2)).toBeUndefined();
    expect(match("^go", Buffer.from("a\ngo"), 2)).toMatchObject({ from: 1002 });
  });

  test("spans escape sequences with the raw bytes of them", () => {
    const text = "\x1b[31mfail\x1b[0med: \x1b[1m3\x1b[0m";
    const found = match("failed: \\d", Buffer.from(text));
    expect(found).toEqual({ text: "failed: 3", from: 1005, to: 1000 + text.length - 4 });
  });

  test("of a long text is cut in the answer, not in its offsets", () => {
    const found = match("x+", Buffer.from("x".repeat(9000)));
    expect(found?.text).toHaveLength(4096);
    expect(found?.to).toBe(10_000);
  });

  test("any literal is found where it is", () => {
    const text = fc.string({ unit: "binary", maxLength: 20 });
    fc.assert(
      fc.property(
        text,
        fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 5 }),
        text,
        (before, word, after) => {
          const data = Buffer.from(before + word + after);
          const found = findMatch({ kind: "match", pattern: literal(word), data, base: 0, skip: 0 });
          expect(found).toBeDefined();
          expect(data.subarray(found?.from, found?.to).toString()).toBe(word);
          expect(found?.from).toBeLessThanOrEqual(Buffer.byteLength(before));
        },
      ),
    );
  });
});

describe("lines", () => {
  const lines = (text: string, source: string, context = 0, limit = 10) => {
    const data = Buffer.from(text);
    return findLines({
      kind: "lines",
      pattern: pattern(source),
      data,
      base: 0,
      from: 0,
      to: data.length,
      context,
      limit,
    });
  };

  test("come with context and without their line ends", () => {
    expect(lines("a\n\nb\r\nc", "b", 2)).toEqual([{ from: 3, to: 5, line: "b", before: ["a", ""], after: ["c"] }]);
    expect(lines("x\n", "^$")).toEqual([]);
    expect(lines("a\na\na\n", "a", 0, 2)).toHaveLength(2);
  });

  test("outside of the asked part are context only", () => {
    const data = Buffer.from("a1\na2\na3\n");
    const found = findLines({
      kind: "lines",
      pattern: literal("a"),
      data,
      base: 10,
      from: 3,
      to: 6,
      context: 5,
      limit: 9,
    });
    expect(found).toEqual([{ from: 13, to: 15, line: "a2", before: ["a1"], after: ["a3"] }]);
  });
});

describe("patterns", () => {
  test("that do not compile are a fault; those that only Unicode rules refuse are taken", () => {
    expect(() => compilePattern(pattern("("))).toThrow(expect.objectContaining({ code: "regex/invalid" }));
    expect(compilePattern(pattern("a{")).test("a{")).toBe(true);
    expect(compilePattern(pattern("^.$")).test("😀")).toBe(true);
  });

  test("escape sequences go, and every index finds its way back", () => {
    const bare = stripEscapes("a\x1b[1mb\x1b]0;t\x07c");
    expect(bare.text).toBe("abc");
    expect([0, 1, 2].map((i) => bare.toRaw(i))).toEqual([0, 5, 12]);
    expect([0, 1, 5, 6, 12, 13].map((i) => bare.fromRaw(i))).toEqual([0, 1, 1, 2, 2, 3]);
  });
});
