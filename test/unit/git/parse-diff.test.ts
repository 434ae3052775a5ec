import fc from "fast-check";
import { expect, test } from "vitest";
import { DiffReader, pathOfHeader } from "../../../src/git/parse-diff.ts";
import { quotePath, unquotePath } from "../../../src/git/quote-path.ts";

const output = Buffer.from(
  [
    '1\t0\ta b/ c\0-\t-\tbin\x002\t3\t\0old\0new "q"\x000\t0\tmode\0\0',
    "diff --git a/a b/ c b/a b/ c\nindex 1..2 100644\n--- a/a b/ c\t\n+++ b/a b/ c\t\n@@ -1 +1,2 @@\n x\n+rename to y\n",
    "diff --git a/bin b/bin\nindex 1..2\nBinary files a/bin and b/bin differ\n",
    '* Unmerged path lost\ndiff --git a/old "b/new \\"q\\""\nsimilarity index 90%\nrename from old\nrename to "new \\"q\\""\n@@ -1 +1 @@\n-a\n+b\n',
    "diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n",
  ].join(""),
);

function read(pieces: readonly Buffer[], mostBytes = 1 << 20): DiffReader {
  const reader = new DiffReader(mostBytes);
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return reader;
}

test("counts and parts, however the bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(output.length), { maxLength: 12 }), (cuts) => {
      const at = [0, ...cuts.toSorted((x, y) => x - y), output.length];
      const reader = read(at.slice(1).map((to, i) => output.subarray(at[i], to)));
      expect(Object.fromEntries(reader.counts)).toEqual({
        "a b/ c": { additions: 1, deletions: 0 },
        bin: {},
        'new "q"': { additions: 2, deletions: 3 },
        mode: { additions: 0, deletions: 0 },
      });
      expect(reader.parts.map((part) => part.path)).toEqual(["a b/ c", "bin", 'new "q"', "mode"]);
      expect(reader.parts[0]?.text.toString()).toMatch(/^diff --git a\/a b\/ c[^]*\+rename to y\n$/);
      expect(reader.parts[1]?.text.toString()).toMatch(/differ\n$/);
    }),
  );
});

test("a part over the bound is dropped whole, the others stay", () => {
  const long = Buffer.from(`diff --git a/l b/l\n@@ -1 +1 @@\n+${"x".repeat(5_000)}\n`);
  const short = Buffer.from("diff --git a/s b/s\n@@ -1 +1 @@\n+y\n");
  const all = Buffer.concat([Buffer.from("1\t0\tl\x001\t0\ts\0\0"), long, short]);
  for (const size of [1, 7, 100, 10_000]) {
    const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
      all.subarray(i * size, (i + 1) * size),
    );
    const reader = read(pieces, 1_000);
    expect(reader.parts.map((part) => part.path)).toEqual(["s"]);
    expect(reader.counts.size).toBe(2);
  }
});

test("nothing changed", () => {
  expect(read([]).parts).toEqual([]);
});

test.each([
  ["diff --git a/x b/x\nnew file mode 100644\n", "x"],
  ["diff --git a/a b/a b/a b/a\nindex", "a b/a"],
  ['diff --git "a/\\303\\244\\t" "b/\\303\\244\\t"\n', "\u00c3\u00a4\t"],
  ["diff --git a/o b/n\ncopy from o\ncopy to n\n", "n"],
  ["no header", undefined],
])("the path of %j", (header, path) => {
  expect(pathOfHeader(header)).toBe(path);
});

test("quoting and its way back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary-ascii" }), (name) => {
      expect(unquotePath(quotePath(name))).toBe(name);
    }),
  );
  expect(quotePath("plain name")).toBe("plain name");
  expect(quotePath("ä€")).toBe("ä€");
  expect(quotePath('a"\n\x01\\')).toBe('"a\\"\\n\\001\\\\"');
});
