import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Piece, summarise, summaryRanges } from "../../../src/process/output-summary.ts";

const half = 16_384;
const text = (data: Buffer, from: number, to?: number) => data.toString("utf8", from, to);

/** What a reader of the log would hand in: the ranges of a summary, less what was dropped. */
function summaryOf(data: Buffer, from = 0, dropped: [number, number][] = []) {
  const pieces: Piece[] = [];
  const to = from + data.length;
  for (const [a, b] of summaryRanges(from, to)) {
    let at = a;
    for (const [gapFrom, gapTo] of dropped) {
      const end = Math.min(b, gapFrom);
      if (end > at) pieces.push({ from: at, data: data.subarray(at - from, end - from) });
      at = Math.max(at, Math.min(b, gapTo));
    }
    if (b > at) pieces.push({ from: at, data: data.subarray(at - from, b - from) });
  }
  return summarise({ from, to, pieces });
}

describe("a short output", () => {
  test("is itself", () => {
    expect(summaryOf(Buffer.alloc(0))).toEqual({ output: "" });
    expect(summaryOf(Buffer.from("a\nb"))).toEqual({ output: "a\nb" });
  });

  test("of 16,385 to 32,768 bytes is joined without a separator and not called truncated", () => {
    for (const size of [half, half + 1, 20_000, 2 * half]) {
      const short = "0123456\n".repeat(size).slice(0, size);
      expect(summaryOf(Buffer.from(short))).toEqual({ output: short });
    }
  });
});

describe("a long output", () => {
  // Promise: model-ready
  test("pain P20: shows head, tail and the exact hole between", () => {
    const data = Buffer.from(Array.from({ length: 10_000 }, (_, i) => `${String(i).padStart(7, "0")}\n`).join(""));
    const { output, truncated } = summaryOf(data);
    const hole = data.length - 2 * half;
    expect(output).toBe(
      `${text(data, 0, half)}\n\n... [omitted ${hole} bytes] ...\n\n${text(data, data.length - half)}`,
    );
    expect(truncated).toEqual({
      original_bytes: 80_000,
      retained_bytes: Buffer.byteLength(output),
      omitted_bytes: hole,
      strategy: "head_tail",
      omitted: [[half, data.length - half]],
    });
  });

  test("pain P21: is cut at character borders and counts what that leaves out", () => {
    const data = Buffer.from(`a${"€\n".repeat(10_000)}`);
    const { output, truncated } = summaryOf(data);
    expect(output).not.toContain("\ufffd");
    expect(truncated?.omitted).toHaveLength(1);
    const [from, to] = truncated?.omitted?.[0] ?? [0, 0];
    expect(from).toBeLessThanOrEqual(half);
    expect(to).toBeGreaterThanOrEqual(data.length - half);
    expect(truncated?.omitted_bytes).toBe(to - from);
    expect(output).toContain(`[omitted ${to - from} bytes]`);
  });

  test("shows bytes that the ring dropped as omitted", () => {
    const data = Buffer.from("0123456\n".repeat(10_000));
    const { output, truncated } = summaryOf(data, 0, [[8192, 60_000]]);
    expect(truncated?.omitted).toEqual([[8192, 80_000 - half]]);
    expect(output.startsWith(`${text(data, 0, 8192)}\n\n... [omitted`)).toBe(true);
    const lost = summaryOf(Buffer.from("abcdef"), 100, [[102, 104]]);
    expect(lost.output).toBe("ab\n\n... [omitted 2 bytes] ...\n\nef");
    expect(lost.truncated).toMatchObject({ omitted: [[102, 104]], original_bytes: 6, omitted_bytes: 2 });
    expect(summaryOf(Buffer.from("abcdef"), 0, [[0, 6]]).output).toBe("\n\n... [omitted 6 bytes] ...\n\n");
  });
});

describe("a long line", () => {
  test("is cut to its first 2032 bytes and counted", () => {
    const line = "x".repeat(2049);
    const { output, truncated } = summaryOf(Buffer.from(`a\n${line}\n${"y".repeat(2048)}\nz`));
    expect(output).toBe(`a\n${"x".repeat(2032)} ... [truncated]\n${"y".repeat(2048)}\nz`);
    expect(truncated).toEqual({
      original_bytes: 4102,
      retained_bytes: Buffer.byteLength(output),
      omitted_bytes: 0,
      strategy: "head_tail",
      cut_lines: 1,
    });
  });

  test("pain P21: is cut at a character border", () => {
    const { output } = summaryOf(Buffer.from(`${"😀".repeat(600)}b`));
    expect(output).toBe(`${"😀".repeat(508)} ... [truncated]`);
    expect(summaryOf(Buffer.from(`abc${"€".repeat(1000)}`)).output).toBe(`abc${"€".repeat(676)} ... [truncated]`);
  });
});

describe("any output", () => {
  const unit = fc.oneof(fc.constantFrom("é", "€", "😀", "a", "\n", "line\n"), fc.string({ maxLength: 3 }));
  const anyText = fc
    .record({ seed: fc.array(unit, { minLength: 1, maxLength: 12 }), size: fc.integer({ min: 0, max: 90_000 }) })
    .map(({ seed, size }) => {
      const one = Buffer.from(seed.join(""));
      return Buffer.concat(Array.from({ length: Math.ceil(size / Math.max(1, one.length)) }, () => one));
    });

  test("text and omitted ranges together are the whole, and the true tail is there", () => {
    fc.assert(
      fc.property(anyText, fc.nat(1000), (data, from) => {
        const { output, truncated } = summaryOf(data, from);
        expect(output).not.toContain("\ufffd");
        if (truncated?.cut_lines) return;
        let rebuilt = output;
        let offset = 0;
        for (const [a, b] of truncated?.omitted ?? []) {
          const mark = `\n\n... [omitted ${b - a} bytes] ...\n\n`;
          const head = Buffer.from(data.subarray(offset, a - from)).toString();
          expect(rebuilt.startsWith(head + mark)).toBe(true);
          rebuilt = rebuilt.slice((head + mark).length);
          offset = b - from;
        }
        expect(rebuilt).toBe(data.subarray(offset).toString());
        expect(data.length - offset).toBeLessThanOrEqual(2 * half);
      }),
      { numRuns: 200 },
    );
  });

  test("any bytes give well-formed text and exact counts", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 300 }),
        fc.tuple(fc.nat(90_000), fc.nat(90_000)),
        (seed, times, [a, b]) => {
          const data = Buffer.concat(Array.from({ length: times }, () => seed));
          const gap: [number, number] = [Math.min(a, b, data.length), Math.min(Math.max(a, b), data.length)];
          const { output, truncated } = summaryOf(data, 0, [gap]);
          expect(Buffer.from(output).toString()).toBe(output);
          const ranges = truncated?.omitted ?? [];
          expect(ranges.reduce((sum, [x, y]) => sum + y - x, 0)).toBe(truncated?.omitted_bytes ?? 0);
          if (truncated) expect(truncated.retained_bytes).toBe(Buffer.byteLength(output));
          ranges.forEach(([x, y], i) => expect(x < y && y <= (ranges[i + 1]?.[0] ?? data.length)).toBe(true));
        },
      ),
      { numRuns: 100 },
    );
  });
});
