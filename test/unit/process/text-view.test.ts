import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderText } from "../../../src/process/text-view.ts";

describe("the text view", () => {
  test.each([
    ["plain text", "a\tb\nc", "a\tb\nc"],
    ["CR LF", "a\r\nb\r\n", "a\nb\n"],
    ["colours", "\x1b[1;31mred\x1b[0m \x1b[38:2:1:2:3mx\x1b[m", "red x"],
    ["a title", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"],
    ["a title that nobody ends", "a\x1b]0;title\nb", "a\nb"],
    ["device control strings", "a\x1bPq#0;1\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x9cd", "abcd"],
    ["8-bit controls", "\u009b31mred\u009d0;t\u009c!\u0085", "red!"],
    ["character sets and keypads", "\x1b(B\x1b=\x1b>\x1b7x\x1b8\x1b#8y", "xy"],
    ["private modes", "\x1b[?25l\x1b[?2004hx\x1b[>4;1m\x1b[!p", "x"],
    ["control characters", "a\x00b\x01\x07c\x7fd", "abcd"],
    ["a half escape at the end", "a\x1b[3", "a"],
    ["a lone escape at the end", "a\x1b", "a"],
    ["a broken sequence", "a\x1b[1;\nb", "a\nb"],
    ["overwriting by \\r", "10%\r20%\r100%\ndone", "100%\ndone"],
    ["a shorter text over a longer one", "abcdef\rXY", "XYcdef"],
    ["erase to the end", "abcdef\rXY\x1b[K", "XY"],
    ["erase to the start", "abcdef\x1b[3D\x1b[1K", "    ef"],
    ["erase the line", "abc\x1b[2K\rx", "x"],
    ["blanks that only wiped", "long text\r         \rx\n", "x\n"],
    ["backspace", "abc\b\bX", "aXc"],
    ["overstrike", "_\bA_\bB", "AB"],
    ["backspace at the start", "\b\bx", "x"],
    ["cursor columns", "a\x1b[5Gb\x1b[2Cc", "a   b  c"],
    ["emoji under a cursor", "😀x\ryy", "yyx"],
    ["half of an emoji overwritten", "😀\ry", "y\ufffd"],
    ["up and erase", "one\ntwo\nthree\x1b[2A\x1b[2K\rONE\x1b[2B", "ONE\ntwo\nthree"],
    ["erase below", "a\nb\nc\x1b[2A\r\x1b[Jx", "x"],
    ["previous line", "a 1%\nb 1%\n\x1b[2Fa 9%\nb 9%\n", "a 9%\nb 9%\n"],
    ["absolute positions", "frame 1\x1b[H\x1b[2Jframe 2", "frame 1\nframe 2"],
  ])("%s", (_name, input, output) => {
    expect(renderText(input)).toBe(output);
  });

  test("pain P7: a multi-line progress display is its last state", () => {
    let text = "start\n";
    for (let i = 0; i <= 100; i++) {
      if (i > 0) text += "\x1b[2A";
      text += `\x1b[2K\rlayer a ${i}%\n\x1b[2K\rlayer b ${i}%\n`;
    }
    expect(renderText(`${text}done\n`)).toBe("start\nlayer a 100%\nlayer b 100%\ndone\n");
  });

  test("folds four and more identical lines", () => {
    expect(renderText("a\na\na\nb")).toBe("a\na\na\nb");
    expect(renderText(`x\n${"a\n".repeat(4)}b\n`)).toBe("x\na\n... [repeated 3 times]\nb\n");
    expect(renderText("a\n".repeat(1000))).toBe("a\n... [repeated 999 times]\n");
    expect(renderText("a\na\na\na")).toBe("a\n... [repeated 3 times]");
  });

  test("goes back at most 64 lines", () => {
    const lines = Array.from({ length: 300 }, (_, i) => `line ${i}`).join("\n");
    const view = renderText(`${lines}\x1b[1000A\rX`).split("\n");
    expect(view).toHaveLength(300);
    expect(view[236]).toBe("Xine 236");
  });
});

describe("any text", () => {
  const piece = fc.oneof(
    fc.constantFrom("\r", "\n", "\b", "\x1b", "\x1b[", "\x1b]0;", "\x07", "\x1b\\", "\u009b", "\x1bM", "\x1b[2J", "😀"),
    fc.tuple(fc.nat(300), fc.constantFrom(..."ABCDEFGHJKMPXfm@".split(""))).map(([n, final]) => `\x1b[${n}${final}`),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
  const anyText = fc.array(piece, { maxLength: 60 }).map((p) => p.join(""));

  test("gives no control but newline and tab, is well formed and bounded", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const view = renderText(text);
        // oxlint-disable-next-line no-control-regex -- controls are what this is about
        expect(view).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(Buffer.from(view).toString()).toBe(view);
        expect(view.length).toBeLessThanOrEqual(3 * text.length + 70_000);
      }),
      { numRuns: 1000 },
    );
  });

  test("without controls is unchanged but for folding", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 20 }), (lines) => {
        const text = lines.map((line, i) => `${i} ${line.replace(/\p{Cc}/gu, "")}`).join("\n");
        expect(renderText(text)).toBe(text);
      }),
    );
  });
});

describe("hostile text", () => {
  const size = 1 << 20;
  test.each([
    ["one long line", "x".repeat(size)],
    ["edits near the end of a long line", "x".repeat(size / 2) + "y\b\x1b[K".repeat(size / 10)],
    ["overwriting from the start", "x".repeat(size / 2) + "\ry".repeat(size / 4)],
    ["erasing to the start", "x".repeat(size / 2) + "\x1b[1K".repeat(size / 8)],
    ["wiping and going back", "x".repeat(size / 2) + "\x1b[2Ky".repeat(size / 10)],
    ["wide moves", "\x1b[9999Cx\n".repeat(size / 9)],
    ["unended strings", "\x1b]0;".repeat(size / 4)],
    ["unended sequences", "\x1b[1".repeat(size / 3)],
    ["moves up and down", "abc\n".repeat(100) + "\x1b[64A\x1b[64Bx\r".repeat(size / 12)],
    ["frames", "\x1b[Hx".repeat(size / 4)],
  ])("%s takes linear time", (_name, text) => {
    const begin = performance.now();
    const view = renderText(text);
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(view.length).toBeLessThan(3 * size);
  });
});
