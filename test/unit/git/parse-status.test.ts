import { expect, test } from "vitest";
import { parseStatus } from "../../../src/git/parse-status.ts";

const a = "a".repeat(40);
const b = "b".repeat(40);
const bytes = (...records: string[]) => Buffer.from(records.map((record) => `${record}\0`).join(""));

test("headers: branch, commit, upstream", () => {
  const status = parseStatus(
    bytes(
      `# branch.oid ${a}`,
      "# branch.head feature/x y",
      "# branch.upstream origin/x",
      "# branch.ab +2 -13",
      "# stash 1",
    ),
  );
  expect(status).toEqual({ head: a, branch: "feature/x y", upstream: "origin/x", ahead: 2, behind: 13, entries: [] });
});

test("before the first commit and without a branch", () => {
  expect(parseStatus(bytes("# branch.oid (initial)", "# branch.head main"))).toEqual({ branch: "main", entries: [] });
  expect(parseStatus(bytes(`# branch.oid ${a}`, "# branch.head (detached)"))).toEqual({
    head: a,
    branch: "",
    entries: [],
  });
  expect(parseStatus(Buffer.alloc(0))).toEqual({ branch: "", entries: [] });
  expect(parseStatus(bytes("# branch.ab +? -?"))).toEqual({ branch: "", entries: [] });
});

test.each([
  ["M.", "modified", true, false],
  [".M", "modified", false, true],
  ["MM", "modified", true, true],
  ["A.", "added", true, false],
  ["AM", "added", true, true],
  [".A", "added", false, true],
  ["D.", "deleted", true, false],
  [".D", "deleted", false, true],
  ["AD", "deleted", true, true],
  ["MD", "deleted", true, true],
  ["T.", "type_changed", true, false],
  [".T", "type_changed", false, true],
  ["MT", "type_changed", true, true],
])("%s is %s", (xy, status, staged, unstaged) => {
  const { entries } = parseStatus(bytes(`1 ${xy} N... 100644 100644 100644 ${a} ${b} dir/a b`));
  expect(entries).toEqual([{ path: Buffer.from("dir/a b"), status, staged, unstaged, hash: b }]);
});

test("renames name both paths, whatever is in them", () => {
  const { entries } = parseStatus(bytes(`2 RM N... 100644 100644 100644 ${a} ${b} R97 new name\n"`, " old ", "? next"));
  expect(entries).toMatchObject([
    {
      path: Buffer.from('new name\n"'),
      oldPath: Buffer.from(" old "),
      status: "renamed",
      staged: true,
      unstaged: true,
    },
    { path: Buffer.from("next"), status: "untracked", staged: false, unstaged: true },
  ]);
});

test("conflicts, submodules, ignored and unknown records", () => {
  const { entries } = parseStatus(
    bytes(
      `u UU N... 100644 100644 100644 100644 ${a} ${b} ${a} con flict`,
      `1 .M SC.U 160000 160000 160000 ${a} ${b} sub`,
      `1 .M S.M. 160000 160000 160000 ${a} ${b} sub2`,
      "! ignored",
      "x something new",
      "?  outer ",
    ),
  );
  expect(entries).toMatchObject([
    { path: Buffer.from("con flict"), status: "unmerged", staged: true, unstaged: true },
    { path: Buffer.from("sub"), submodule: { moved: true } },
    { path: Buffer.from("sub2"), submodule: { moved: false } },
    { path: Buffer.from(" outer "), status: "untracked" },
  ]);
});

test("names that are no UTF-8 stay as they are", () => {
  const name = Buffer.from([0x66, 0xff, 0x20]);
  const { entries } = parseStatus(Buffer.concat([Buffer.from("? "), name, Buffer.from([0])]));
  expect(entries[0]?.path).toEqual(name);
});
