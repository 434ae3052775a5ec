import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { oneLine } from "../../../src/cli/one-line.ts";
import { type Column, cut, formatTable } from "../../../src/cli/table.ts";

interface Row {
  id: string;
  label: string;
  command: string;
}

const columns: Column<Row>[] = [
  { title: "ID", text: (r) => r.id },
  { title: "LABEL", text: (r) => r.label },
  { title: "COMMAND", text: (r) => r.command },
];

describe("formatTable", () => {
  it("aligns columns by what a terminal shows", async () => {
    const lines = await formatTable(
      columns,
      [
        { id: "1", label: "日本", command: "a" },
        { id: "22", label: "dev", command: "b" },
      ],
      80,
    );
    expect(lines).toEqual(["ID  LABEL  COMMAND", "1   日本   a", "22  dev    b"]);
  });

  it("leaves out a column that is empty in every row", async () => {
    expect(await formatTable(columns, [{ id: "1", label: "", command: "a" }], 80)).toEqual(["ID  COMMAND", "1   a"]);
  });

  it("cuts the last column to the width and nothing when there is none", async () => {
    const row = { id: "1", label: "x", command: "word ".repeat(50).trim() };
    for (const line of await formatTable(columns, [row], 40)) expect(stringWidth(line)).toBeLessThanOrEqual(40);
    expect((await formatTable(columns, [row], Number.POSITIVE_INFINITY))[1]).toContain(row.command);
  });

  it("puts colour on after widths are known", async () => {
    const coloured = [
      { ...columns[0], title: "ID", text: (r: Row) => r.id, style: (t: string) => `<${t}>` },
      ...columns.slice(1),
    ];
    expect(
      await formatTable(
        coloured,
        [
          { id: "1", label: "", command: "a" },
          { id: "22", label: "", command: "b" },
        ],
        80,
      ),
    ).toEqual(["ID  COMMAND", "<1>   a", "<22>  b"]);
  });
});

describe("text of processes", () => {
  it("never reaches the terminal with escapes or controls in it", async () => {
    expect(oneLine("a\x1b[31mb\x1b]0;title\x07c\r\nd\te\x9b31mf")).not.toMatch(/\p{Cc}/u);
    expect(oneLine("two\nlines")).toBe("two lines");
  });

  it("is cut between characters, never inside one", async () => {
    expect(cut("日本語", 5, stringWidth)).toBe("日本…");
    expect(cut("日本語", 4, stringWidth)).toBe("日…");
    expect(cut("👨‍👩‍👧x", 2, stringWidth)).toBe("…");
    expect(cut("abc", 3, stringWidth)).toBe("abc");
  });
});
