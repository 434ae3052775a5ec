import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineScan } from "../../../src/files/line-scan.ts";

const wide = { first: 1, last: Number.POSITIVE_INFINITY, maxLineBytes: 1e6, maxLines: 1e6, maxBytes: 1e9 };

function scan(bytes: Uint8Array, bounds = wide, cuts: readonly number[] = []): { scan: LineScan; lines: string[] } {
  const made = new LineScan(bounds);
  let at = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    made.push(bytes.subarray(at, cut));
    at = Math.max(at, cut);
  }
  made.push(bytes.subarray(at));
  return { lines: [...made.end()], scan: made };
}
const text = (value: string) => Buffer.from(value);

describe("a scan of lines", () => {
  test.each([
    ["", 0],
    ["a", 1],
    ["a\n", 1],
    ["a\nb", 2],
    ["a\nb\n", 2],
    ["\n", 1],
    ["\n\n", 2],
  ])("of %j counts %i: no line behind a final line feed", (content, total) => {
    expect(scan(text(content)).scan.total).toBe(total);
  });

  test("numbers lines as they are, in any chunking", () => {
    const content = fc.array(fc.constantFrom("a", "ü", "😀", "\r", "\t", "\n", "\n")).map((c) => c.join(""));
    fc.assert(
      fc.property(content, fc.array(fc.nat(200)), (value, cuts) => {
        const lines = value.split("\n");
        if (lines.at(-1) === "") lines.pop();
        const found = scan(
          text(value),
          wide,
          cuts.map((cut) => Math.min(cut, Buffer.byteLength(value))),
        );
        expect(found.lines).toEqual(lines.map((line, i) => `${i + 1}\t${line}`));
        expect(found.scan.total).toBe(lines.length);
      }),
    );
  });

  test("of any range and any bounds is a part of the whole, fits, and is valid UTF-8", () => {
    const bounds = fc.record({
      first: fc.integer({ min: 1, max: 12 }),
      last: fc.integer({ min: 1, max: 12 }),
      maxLineBytes: fc.integer({ min: 1, max: 12 }),
      maxLines: fc.integer({ min: 1, max: 10 }),
      maxBytes: fc.integer({ min: 1, max: 300 }),
    });
    fc.assert(
      fc.property(fc.uint8Array({ max: 255, maxLength: 80 }), bounds, (bytes, limits) => {
        const all = scan(bytes, { ...wide, maxLineBytes: limits.maxLineBytes }).lines;
        const wanted = all.slice(limits.first - 1, limits.last);
        const { lines, scan: made } = scan(bytes, limits);
        const fits = wanted.length <= limits.maxLines && Buffer.byteLength(wanted.join("\n")) <= limits.maxBytes;
        expect(made.over === undefined).toBe(fits);
        expect(lines).toEqual(fits ? wanted : []);
        expect(made.total).toBe(all.length);
      }),
    );
  });

  test("cuts a long line at a character and says so", () => {
    expect(scan(text("ääää\nb\n"), { ...wide, maxLineBytes: 3 }).lines).toEqual(["1\tä ... [truncated]", "2\tb"]);
  });

  test("says which line did not fit any more", () => {
    expect(scan(text("a\nb\nc\n"), { ...wide, maxLines: 2 }).scan.over).toEqual({ line: 3, what: "lines" });
    expect(scan(text("aaa\nbbb\n"), { ...wide, maxBytes: 6 }).scan.over).toEqual({ line: 2, what: "bytes" });
  });
});
