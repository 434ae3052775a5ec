import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderText } from "../../../src/process/index.ts";
import { type Fitted, fitOutput, holeMark, type LogSource, type Range } from "../../../src/tools/index.ts";

/** A log in memory that answers as the log API does. */
function logOf(data: Buffer, dropped: readonly Range[] = [], from = 0, to = data.length): LogSource {
  return {
    from,
    to,
    dropped,
    read(a, b) {
      const gap = dropped.find(([x, y]) => a >= x && a < y);
      const start = gap ? gap[1] : a;
      const stop = Math.min(b, ...dropped.filter(([x]) => x >= start).map(([x]) => x));
      return { from: start, data: data.subarray(start, Math.max(start, stop)) };
    },
    render: renderText,
  };
}

/** Shown and missing ranges in order; they must cover the asked range without gap or overlap. */
function coverage(fitted: Fitted): Range[] {
  return [...fitted.shown, ...fitted.omitted, ...fitted.gone].toSorted((a, b) => a[0] - b[0]);
}

function expectCovered(fitted: Fitted, from: number, to: number): void {
  let at = from;
  for (const [a, b] of coverage(fitted)) {
    expect(a).toBe(at);
    expect(b).toBeGreaterThan(a);
    at = b;
  }
  expect(at).toBe(to);
}

const isWellFormed = (text: string) => Buffer.from(text).toString() === text;
const budget = fc.integer({ min: 1_024, max: 12_000 });
const byte = fc.integer({ min: 0, max: 255 });
const line = fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replaceAll(/\p{C}/gu, "."));
/** Without controls, long lines and repeats: what is shown is what was written. */
const plainStream = fc
  .tuple(fc.array(line, { maxLength: 600 }), fc.boolean())
  .map(([lines, ends]) => Buffer.from(lines.map((text, i) => `${i} ${text}`).join("\n") + (ends ? "\n" : "")));
const messyChunk = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 60 }).map((s) => Buffer.from(s)) },
  { weight: 2, arbitrary: fc.array(byte, { maxLength: 60 }).map((b) => Buffer.from(b)) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("\n", "\r", "\r\n", "\x1b[A", "\x1b[2K", "\x1b[31m", "\x1b]0;t", "\b")
      .map((s) => Buffer.from(s)),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 6_000 }).map((n) => Buffer.from("é".repeat(n))) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 400 }).map((n) => Buffer.from("same line\n".repeat(n))) },
);
const messyStream = fc.array(messyChunk, { maxLength: 60 }).map((chunks) => Buffer.concat(chunks));

describe("output budget", () => {
  // Promise: model-ready
  test("pain P20: plain text and its holes make up the stream again, to the byte", () => {
    fc.assert(
      fc.property(plainStream, budget, (data, max) => {
        const fitted = fitOutput(logOf(data), max);
        expect(Buffer.byteLength(fitted.text)).toBeLessThanOrEqual(max);
        expectCovered(fitted, 0, data.length);
        const rebuilt = coverage(fitted).map(([a, b]) => {
          const isShown = fitted.shown.some(([from]) => from === a);
          return isShown ? data.toString("utf8", a, b) : holeMark(b - a);
        });
        expect(fitted.text).toBe(rebuilt.join(""));
        expect(fitted.text.endsWith(data.toString("utf8").slice(-100))).toBe(true);
      }),
    );
  });

  test("any bytes: it fits, is valid UTF-8, covers everything and holds the end", () => {
    fc.assert(
      fc.property(messyStream, budget, (data, max) => {
        const fitted = fitOutput(logOf(data), max);
        expect(Buffer.byteLength(fitted.text)).toBeLessThanOrEqual(max);
        expect(isWellFormed(fitted.text)).toBe(true);
        expectCovered(fitted, 0, data.length);
        const last = fitted.shown.at(-1);
        expect(last?.[1] ?? 0).toBe(data.length);
        const end = renderText(data.toString("utf8", last?.[0]));
        expect(fitted.text.endsWith(end.slice(-16))).toBe(true);
      }),
    );
  });

  test("long lines of plain text: what was cut is known to the byte", () => {
    const longLine = fc.integer({ min: 1, max: 20_000 }).map((n) => "aé€😀".repeat(n).slice(0, n));
    fc.assert(
      fc.property(fc.array(longLine, { minLength: 1, maxLength: 8 }), budget, (lines, max) => {
        const data = Buffer.from(lines.map((text, i) => `${i}${text.replaceAll(/[\ud800-\udfff]/g, "x")}`).join("\n"));
        const fitted = fitOutput(logOf(data), max);
        expect(Buffer.byteLength(fitted.text)).toBeLessThanOrEqual(max);
        expectCovered(fitted, 0, data.length);
        let bytes = Buffer.byteLength(
          fitted.text.replaceAll(/ \.\.\. \[cut .*?\] \.\.\. |\n\n\.\.\. \[omitted .*?\] \.\.\.\n\n/g, ""),
        );
        for (const [a, b] of [...fitted.omitted, ...fitted.cuts]) bytes += b - a;
        expect(bytes).toBe(data.length);
        expect(fitted.text.endsWith(data.toString("utf8").slice(-20))).toBe(true);
      }),
    );
  });

  test("what is no longer kept is told apart from what can be fetched", () => {
    const data = Buffer.from(Array.from({ length: 4_000 }, (_, i) => `line ${i}\n`).join(""));
    const gap = fc.tuple(fc.nat(data.length - 1), fc.integer({ min: 1, max: 20_000 }));
    fc.assert(
      fc.property(gap, budget, ([at, length], max) => {
        const dropped: Range[] = [[at, Math.min(data.length, at + length)]];
        const fitted = fitOutput(logOf(data, dropped), max);
        expect(Buffer.byteLength(fitted.text)).toBeLessThanOrEqual(max);
        expectCovered(fitted, 0, data.length);
        expect(fitted.gone).toEqual(dropped);
      }),
    );
  });

  test("a part that is asked for is shown whole when it fits", () => {
    const data = Buffer.from("x".repeat(5_000));
    expect(fitOutput(logOf(data, [], 100, 5_000), 8_192)).toMatchObject({
      text: "x".repeat(4_900),
      omitted: [],
      cutLines: 0,
    });
  });

  test("a JSON text of 20 kB on one line stays valid", () => {
    const json = JSON.stringify(Array.from({ length: 2_000 }, (_, i) => `item ${i}`));
    expect(JSON.parse(fitOutput(logOf(Buffer.from(json)), 32_768).text)).toHaveLength(2_000);
  });

  test("pain P7: a megabyte of progress bar costs a line", () => {
    const bar = Array.from({ length: 5_000 }, (_, i) => `\r\x1b[32m${"#".repeat(50)}\x1b[0m ${i / 50}%`).join("");
    const { text } = fitOutput(logOf(Buffer.from(`begin\n${bar}\ndone\n`)), 32_768);
    expect(text).toBe(`begin\n${"#".repeat(50)} 99.98%\ndone\n`);
  });

  test("pain P21: no character is broken by a cut", () => {
    const { text } = fitOutput(logOf(Buffer.from("€".repeat(100_000))), 4_096);
    expect(text).not.toContain("\ufffd");
  });

  test("is quick whatever comes", () => {
    const bars = Buffer.from("\x1b[A\x1b[2K\rworking\n".repeat(200_000));
    const began = performance.now();
    expect(fitOutput(logOf(bars), 262_144).text).toContain("working");
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
