import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../../src/tools/index.ts";

describe("durations", () => {
  test.each([
    ["0", 0],
    ["0s", 0],
    ["10s", 10_000],
    ["300ms", 300],
    ["1.5h", 5_400_000],
    ["2h45m", 9_900_000],
    ["1m30s", 90_000],
    ["+5s", 5_000],
    [".5s", 500],
    ["1.s", 1_000],
    ["100us", 1],
    ["1µs", 1],
    ["1ns", 1],
  ])("%s is %d ms, as in Go", (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(["", " ", "10", "ten", "-1s", "1 s", "s", "1d", "1s2", "1e3s", ".s", "Infinity", "0x1s"])(
    "%j is none",
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );

  test("what is written can be read again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
    expect([0, 250, 10_000, 90_000, 2_500, 3_600_000].map(formatDuration)).toEqual([
      "0s",
      "250ms",
      "10s",
      "1m30s",
      "2.5s",
      "1h0m0s",
    ]);
  });
});
