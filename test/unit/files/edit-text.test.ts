import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "../../../src/contract/index.ts";
import { editText } from "../../../src/files/edit-text.ts";

const place = { path: "/f", number: 1, maxLength: 1 << 20 };
const edit = (text: string, search: string, replace: string, replaceAll = false) =>
  editText(text, { search, replace, replaceAll }, place);
function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("an edit", () => {
  test("replaces the one exact place, inside a line too", () => {
    expect(edit("a b c\n", "b", "x")).toEqual({ text: "a x c\n", count: 1, likeness: "exact" });
    expect(edit("a\nb\nc", "a\nb\n", "").text).toBe("c");
  });

  test("takes special characters of expressions and replacements for what they are", () => {
    expect(edit("f(.*)$1\n", "(.*)$1", "$&$$\\1").text).toBe("f$&$$\\1\n");
  });

  test("prefers an exact place over a similar one", () => {
    expect(edit("  a\na\n", "\na\n", "\nb\n").text).toBe("  a\nb\n");
  });

  test("ignores white space at line ends when nothing is exact, and keeps that of lines it does not change", () => {
    const edited = edit("one  \ntwo\t\nthree\n", "one\ntwo\nthree\n", "one\n2\nthree\n");
    expect(edited).toEqual({ text: "one  \n2\nthree\n", count: 1, likeness: "trailing white space" });
  });

  test("ignores all outer white space at last, and takes over the file's indentation", () => {
    const file = "class A {\n    f() {\n        return 1;\n    }\n}\n";
    const edited = edit(file, "f() {\n    return 1;\n}", "f() {\n    if (x) {\n        return 2;\n    }\n}");
    expect(edited.likeness).toBe("outer white space");
    expect(edited.text).toBe("class A {\n    f() {\n        if (x) {\n            return 2;\n        }\n    }\n}\n");
  });

  test.each([
    {
      name: "spaces for tabs",
      file: "\tif x:\n\t\ta()\n",
      search: "  if x:\n    a()\n",
      replace: "  if x:\n    while y:\n      b()\n",
      after: "\tif x:\n\t\twhile y:\n\t\t\tb()\n",
    },
    {
      name: "tabs for spaces",
      file: "    if x:\n        a()\n",
      search: "if x:\n\ta()\n",
      replace: "if x:\n\twhile y:\n\t\tb()\n",
      after: "    if x:\n        while y:\n            b()\n",
    },
    {
      name: "two for four",
      file: "    if x:\n        a()\n",
      search: "if x:\n  a()\n",
      replace: "if x:\n  while y:\n    b()\n",
      after: "    if x:\n        while y:\n            b()\n",
    },
    {
      name: "deeper than the file",
      file: "  a\n  b\n",
      search: "      a\n      b\n",
      replace: "      a\n        c\n    d\n",
      after: "  a\n    c\nd\n",
    },
    {
      name: "one line, shifted",
      file: "\t\ta\n",
      search: "a \n",
      replace: "b\n\tc\n",
      after: "\t\tb\n\t\t\tc\n",
    },
  ])("translates indentation: $name", ({ file, search, replace, after }) => {
    expect(edit(file, search, replace).text).toBe(after);
  });

  test("keeps CRLF, whatever line ends the edit has", () => {
    expect(edit("a\r\nb\r\nc\r\n", "b", "x\ny").text).toBe("a\r\nx\r\ny\r\nc\r\n");
    expect(edit("a\r\nb\r\nc\r\n", "a\nb\n", "1\n2\n").text).toBe("1\r\n2\r\nc\r\n");
    expect(edit("a \r\nb\r\nc\r\n", "a\nb\n", "1\n2\n").text).toBe("1\r\n2\r\nc\r\n");
    expect(edit("a\r\n  b", " b", "x\ny").text).toBe("a\r\n x\r\ny");
    expect(edit("a\r\n  b", "b \n", "x\ny\n").text).toBe("a\r\n  x\r\n  y");
  });

  test("keeps line feeds against an edit with CRLF, unless it is about line ends", () => {
    expect(edit("a\nb\nc\n", "b", "x\r\ny").text).toBe("a\nx\ny\nc\n");
    expect(edit("a\nb\n", "a\r\nb\r\n", "1\r\n2\r\n").text).toBe("1\n2\n");
    expect(edit("a\nb\n", "a\nb\n", "a\r\nb\r\n").text).toBe("a\r\nb\r\n");
    expect(edit("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n").text).toBe("a\nb\n");
  });

  test("does not invent a line end at the end of the file", () => {
    expect(edit("a\nb", "b\n", "c\n").text).toBe("a\nc");
    expect(edit("a\nb", "b\n", "b\nc\n").text).toBe("a\nb\nc");
  });

  test("replaces all places when told to", () => {
    expect(edit("x = 1\n  x = 1\nx = 1", "x = 1", "y", true)).toMatchObject({ text: "y\n  y\ny", count: 3 });
    expect(edit("  a  \n  b\n\ta \n\tb\n", "a\nb\n", "c\nd\n", true).text).toBe("  c\n  d\n\tc\n\td\n");
  });

  test("refuses several places, and says how many and where", () => {
    const fault = faultOf(() => edit("a\nb\na\nb\na\n", "a", "c"));
    expect(fault.code).toBe("file/ambiguous-match");
    expect(fault.message).toContain("3 times (lines 1, 3, 5)");
    expect(fault.message).toContain("replace_all");
    expect(fault.data).toEqual({ path: "/f", edit: 1, count: 3, lines: [1, 3, 5] });
    expect(faultOf(() => edit(" a\n  a\n", "a \n", "c\n")).data).toMatchObject({ count: 2, lines: [1, 2] });
  });

  test("that finds nothing says where the search begins to differ", () => {
    const fault = faultOf(() => edit("one\ntwo\nthree\n", "one\ntwo\nfour\n", ""));
    expect(fault).toMatchObject({ code: "file/no-match", data: { line: 3 } });
    expect(fault.message).toContain('Its first 2 lines are at line 1, but then, at line 3, the file has "three"');
    expect(faultOf(() => edit("one\n", "zzz", "")).message).toContain("Not even its first line");
    expect(faultOf(() => edit("new\n", "old", "new")).message).toContain("already there at line 1");
  });

  test("with an empty or blank search is never a guess", () => {
    expect(faultOf(() => edit("a\n", "", "b")).code).toBe("request/invalid");
    expect(faultOf(() => edit("a\n", " \n \n", "b")).code).toBe("file/no-match");
  });

  test("cannot blow a file up", () => {
    const fault = faultOf(() => edit("a".repeat(10_000), "a", "b".repeat(10_000), true));
    expect(fault.code).toBe("file/too-large");
  });

  test("takes linear time where naive searching would not", () => {
    const started = performance.now();
    expect(faultOf(() => edit("a\n".repeat(400_000), `${"a\n".repeat(200_000)}b\n`, "c")).code).toBe("file/no-match");
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("of a unique text is what plain replacing makes of it", () => {
    const text = fc.array(fc.constantFrom("a", "b", " ", "\t", "\n", "é".normalize(), "x")).map((c) => c.join(""));
    fc.assert(
      fc.property(text, text, text, text, (before, search, after, replace) => {
        const whole = `${before}<<${search}>>${after}`;
        const edited = edit(whole, `<<${search}>>`, `<${replace}>`);
        expect(edited).toEqual({ text: `${before}<${replace}>${after}`, count: 1, likeness: "exact" });
      }),
    );
  });

  test("finds the same lines however they are indented and ended, and leaves the others alone", () => {
    const word = fc.constantFrom("alpha", "beta", "gamma", "delta");
    const blank = fc.constantFrom("", " ", "\t", "   ");
    const line = fc.record({ word, before: blank, after: blank });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), fc.constantFrom("\n", "\r\n"), (lines, eol) => {
        const file = [`top${eol}`, ...lines.map((l) => `${l.before}${l.word}${l.after}${eol}`), `end${eol}`].join("");
        const search = lines.map((l) => `${l.word}\n`).join("");
        const edited = edit(file, search, "new\n");
        expect(edited.text.startsWith(`top${eol}`)).toBe(true);
        expect(edited.text.endsWith(`new${eol}end${eol}`)).toBe(true);
        expect(edited.text.split("\n").length).toBe(4);
      }),
    );
  });
});

test("a long run of blanks, or a file of blank lines, does not hold anybody up", () => {
  const started = performance.now();
  const blanks = `${" ".repeat(500_000)}x \n`;
  expect(edit(`a\n${blanks}`, "a \nx\n", "b\n").text).toBe("b\n");
  expect(faultOf(() => edit("\n".repeat(1_000_000), "a\n", "b")).code).toBe("file/no-match");
  expect(performance.now() - started).toBeLessThan(5_000);
});
