import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "../../../src/cli/duration.ts";
import { formatSize, parseSize } from "../../../src/cli/size.ts";

describe("durations", () => {
  it.each([
    ["500ms", 500],
    ["2s", 2_000],
    ["1.5s", 1_500],
    ["10m", 600_000],
    ["1h30m", 5_400_000],
    ["2d", 172_800_000],
    ["30", 30_000],
  ])("reads %s", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(["", "s", "2x", "-1s", "1 s", "1s2"])("refuses %j and says how to write one", (text) => {
    expect(() => parseDuration(text)).toThrow(/500ms, 2s, 10m/);
  });

  it.each([
    [-5, "0s"],
    [999, "0s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_599_000, "59m"],
    [3_600_000, "1h"],
    [47 * 3_600_000, "47h"],
    [48 * 3_600_000, "2d"],
  ])("shows %d ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));
});

describe("sizes", () => {
  it.each([
    ["0", 0],
    ["640", 640],
    ["64k", 65_536],
    ["512m", 512 << 20],
    ["1.5GiB", 1.5 * 2 ** 30],
    ["2GB", 2 * 2 ** 30],
  ])("reads %s", (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(["", "m", "12q", "-1", "1kk"])("refuses %j", (text) => expect(() => parseSize(text)).toThrow(/512m/));

  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KiB"],
    [1536, "1.5 KiB"],
    [64 << 20, "64 MiB"],
    [3 * 2 ** 40, "3 TiB"],
  ])("shows %d as %s", (bytes, text) => expect(formatSize(bytes)).toBe(text));
});
