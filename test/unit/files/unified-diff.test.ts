import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findRuns } from "../../../src/files/find-runs.ts";
import { unifiedDiff } from "../../../src/files/unified-diff.ts";

/** What the diff makes of the old text: the rules of `patch`, without its leniency. */
function apply(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const lines = diff.split("\n").slice(2, -1);
  const out: string[] = [];
  let at = 0;
  for (const [i, line] of lines.entries()) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@$/.exec(line);
    if (header) {
      const from = header[2] === "0" ? Number(header[1]) : Number(header[1]) - 1;
      out.push(...old.slice(at, from));
      at = from;
    } else if (!line.startsWith("\\")) {
      const text = line.slice(1) + (lines[i + 1]?.startsWith("\\") ? "" : "\n");
      if (line[0] !== "+") expect(old[at++]).toBe(text);
      if (line[0] !== "-") out.push(text);
    }
  }
  return [...out, ...old.slice(at)].join("");
}

describe("a unified diff", () => {
  test("looks as diff -u makes it", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n";
    const after = before.replace("2\n", "two\n").replace("13\n", "");
    expect(unifiedDiff("/f", before, after)).toBe(
      "--- /f\n+++ /f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -10,4 +10,3 @@\n 10\n 11\n 12\n-13\n",
    );
  });

  test("says where the last line has no end", () => {
    expect(unifiedDiff("/f", "a", "a\n")).toBe("--- /f\n+++ /f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    expect(unifiedDiff("/f", "", "a\n")).toBe("--- /f\n+++ /f\n@@ -0,0 +1 @@\n+a\n");
  });

  test("is empty for equal texts", () => {
    expect(unifiedDiff("/f", "a\n", "a\n")).toBe("");
  });

  test("turns any text into any other", () => {
    const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d\r\n")).map((lines) => lines.join(""));
    const open = fc.tuple(text, fc.constantFrom("", "end")).map((parts) => parts.join(""));
    fc.assert(
      fc.property(open, open, (before, after) => {
        expect(apply(before, unifiedDiff("/f", before, after))).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  test("of nearby texts is as short as it can be", () => {
    const lines = Array.from({ length: 300 }, (_, i) => `${i % 7}\n`);
    const after = lines.filter((_, i) => i !== 50 && i !== 200);
    const diff = unifiedDiff("/f", lines.join(""), after.join(""));
    expect(diff.match(/^[-+](?![-+])/gm)?.length).toBe(2);
  });

  test("of two huge texts without a common line is made soon and bounded", () => {
    const numbers = Array.from({ length: 200_000 }, (_, i) => i);
    const started = performance.now();
    const diff = unifiedDiff("/f", numbers.map((n) => `a${n}\n`).join(""), numbers.map((n) => `b${n}\n`).join(""));
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(diff.length).toBeLessThan(1.1 * 2 ** 20);
    expect(diff).toMatch(/\[diff cut at \d+ bytes\]\n$/);
  });
});

test("runs are found where a plain search finds them", () => {
  const letters = fc.array(fc.constantFrom("a", "b"), { maxLength: 60 });
  const pattern = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(letters, pattern, (text, wanted) => {
      const expected: number[] = [];
      const whole = text.join("");
      const search = wanted.join("");
      for (let at = whole.indexOf(search); at !== -1; at = whole.indexOf(search, at + search.length)) expected.push(at);
      expect([...findRuns({ length: text.length, at: (i) => text[i] ?? "" }, wanted)]).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});
