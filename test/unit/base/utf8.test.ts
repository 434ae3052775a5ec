import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteOffset, firstBorder, isValidUtf8, lastBorder } from "../../../src/base/index.ts";

const text = fc.string({ unit: "binary", maxLength: 40 });

describe("character borders", () => {
  test("pain P21: any cut of valid text moves to a border, at most three bytes away", () => {
    fc.assert(
      fc.property(text, fc.nat(200), (t, n) => {
        const data = Buffer.from(t);
        const at = Math.min(n, data.length);
        const last = lastBorder(data, at);
        const first = firstBorder(data, at);
        expect(at - last).toBeLessThanOrEqual(3);
        expect(first - at).toBeLessThanOrEqual(3);
        for (const cut of [last, first]) {
          expect(isValidUtf8(data.subarray(0, cut))).toBe(true);
          expect(isValidUtf8(data.subarray(cut))).toBe(true);
        }
      }),
    );
  });

  test("bytes that are no text are never kept back for long", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(bytes.length - lastBorder(bytes)).toBeLessThanOrEqual(3);
        expect(firstBorder(bytes)).toBeLessThanOrEqual(3);
      }),
    );
    expect(lastBorder(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4);
    expect(firstBorder(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(0);
    expect(lastBorder(Buffer.from([0xff]))).toBe(1);
  });
});

describe("byte offsets of text", () => {
  test("are exact for valid text", () => {
    const data = Buffer.from("é€😀x");
    expect(byteOffset(data, data.toString(), 2)).toBe(5);
    expect(byteOffset(data, data.toString(), 4)).toBe(9);
  });

  test("are exact for any bytes: what lies before decodes to what was before", () => {
    const noisy = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 5 }),
        text.map((t) => Uint8Array.from(Buffer.from(t))),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(noisy, fc.nat(60), (parts, n) => {
        const data = Buffer.concat(parts);
        const decoded = data.toString();
        const index = Math.min(n, decoded.length);
        if (index > 0 && index < decoded.length && /[\udc00-\udfff]/.test(decoded.charAt(index))) return;
        const byte = byteOffset(data, decoded, index);
        expect(data.subarray(0, byte).toString()).toBe(decoded.slice(0, index));
        expect(data.subarray(byte).toString()).toBe(decoded.slice(index));
      }),
    );
  });
});
