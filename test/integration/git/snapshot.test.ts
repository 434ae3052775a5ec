import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { GitFile } from "../../../src/contract/index.ts";
import { placesOf } from "../../../src/git/find-repository.ts";
import { Git } from "../../../src/git/run-git.ts";
import { GitRepository, makeTemporary } from "../../support/git-repository.ts";
import { byPath, readSnapshot as read } from "../../support/git-snapshot.ts";

/** What the original prints for a new file. */
function noIndex(repository: GitRepository, name: string): string {
  try {
    const args = ["-c", "core.quotePath=false", "diff", "--no-index", "--", "/dev/null", name];
    return execFileSync("git", args, { cwd: repository.root, env: repository.env, encoding: "utf8" });
  } catch (error) {
    return String((error as { stdout: unknown }).stdout);
  }
}

test("a clean repository tells branch, commit and nothing else", async () => {
  const repository = GitRepository.create();
  const head = repository.commit({ a: "1\n" });
  repository.git("remote", "add", "origin", "https://example.org/x.git");
  expect(await read(repository)).toEqual({
    repo_root: repository.root,
    branch: "main",
    remote_origin: "https://example.org/x.git",
    head,
    files: [],
  });
});

test("staged, unstaged and untracked changes are one text, with counts per file", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n2\n3\n", b: "b\n", c: "c\n" });
  repository.write("a", "1\n2\n3\n4\n");
  repository.git("add", "a");
  repository.write("a", "1\n2\n3\n4\n5\n");
  rmSync(join(repository.root, "b"));
  repository.write("new/deep", "x\ny\n");
  const entry = await read(repository);
  expect(entry.files).toEqual([
    { path: "a", status: "modified", staged: true, unstaged: true, additions: 2, deletions: 0 },
    { path: "b", status: "deleted", staged: false, unstaged: true, additions: 0, deletions: 1 },
    { path: "new/deep", status: "untracked", staged: false, unstaged: true, additions: 2, deletions: 0 },
  ] satisfies GitFile[]);
  const diff = repository.git("diff", "HEAD");
  expect(entry.unified_diff).toBe(diff + noIndex(repository, "new/deep"));
});

test.each([
  ["nothing staged", []],
  ["everything staged", ["-A"]],
  ["some of it staged", ["--", ":(literal)*"]],
])("the diff is that against HEAD, with %s", async (_, staged) => {
  const repository = GitRepository.create();
  const names = ["*", "[a]", ":(top)x", ":/y", "-z", "a b", "'q'", "ü", "deep/er/n"];
  repository.commit(Object.fromEntries([...names, "other"].map((name) => [name, "1\n"])));
  for (const name of names) repository.write(name, "2\n");
  rmSync(join(repository.root, "other"));
  if (staged.length > 0) repository.git("add", ...staged);
  const entry = await read(repository);
  expect(entry.unified_diff).toBe(repository.git("-c", "core.quotePath=false", "diff", "HEAD"));
  expect(entry.files).toHaveLength(names.length + 1);
});

test("untracked files look as git diff --no-index writes them, whatever they are called", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const names = {
    plain: "x\n",
    "outer blank ": "x\n",
    " leading": "no newline",
    'quo"te': "q\n",
    "new\nline": "n\n",
    "tab\there": "t\n",
    "back\\slash": "b\n",
    "ä€😀": "u\n",
    "sub dir/x": "one\ntwo\n",
    empty: "",
    "crlf.txt": "a\r\nb\r\n",
    "diff.txt": "diff --git a/x b/x\n--- a\n+++ b\n@@ -1 +1 @@\n",
    "bin\x01ary": Buffer.from([1, 0, 2]),
  };
  for (const [name, content] of Object.entries(names)) repository.write(name, content);
  repository.write("run.sh", "#!/bin/sh\n");
  chmodSync(join(repository.root, "run.sh"), 0o755);
  symlinkSync("nowhere", join(repository.root, "link"));
  const entry = await read(repository);
  const expected = (entry.files ?? []).map((file) => noIndex(repository, file.path)).join("");
  expect(entry.unified_diff).toBe(expected);
  expect((entry.files ?? []).map((file) => file.path).toSorted()).toEqual(
    [...Object.keys(names), "run.sh", "link"].toSorted(),
  );
  expect(byPath(entry)["bin\x01ary"]).toEqual({
    path: "bin\x01ary",
    status: "untracked",
    staged: false,
    unstaged: true,
    binary: true,
  });
});

test("a name that is no UTF-8 is shown with marks and its content is found", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  writeFileSync(Buffer.concat([Buffer.from(`${repository.root}/`), Buffer.from([0x66, 0xff])]), "hello\n");
  const entry = await read(repository);
  expect(entry.files?.[0]?.path).toBe("f\ufffd");
  expect(entry.unified_diff).toContain("+hello\n");
});

test.each([["sha1"], ["sha256"]])(
  "before the first commit staged files are shown against nothing (%s)",
  async (format) => {
    const repository = GitRepository.create(`--object-format=${format}`);
    expect(await read(repository)).toEqual({ repo_root: repository.root, branch: "main", files: [] });
    repository.write("staged", "1\n");
    repository.git("add", "staged");
    repository.write("untracked", "2\n");
    const entry = await read(repository);
    expect(entry.head).toBeUndefined();
    expect(entry.branch).toBe("main");
    expect(byPath(entry)["staged"]).toMatchObject({ status: "added", staged: true, unstaged: false, additions: 1 });
    expect(entry.unified_diff).toContain("+++ b/staged\n@@ -0,0 +1 @@\n+1\n");
    expect(entry.unified_diff).toContain("+++ b/untracked\n@@ -0,0 +1 @@\n+2\n");
  },
);

test("a detached HEAD has no branch; ahead and behind are counted", async () => {
  const origin = GitRepository.create();
  origin.commit({ a: "1\n" });
  const clone = GitRepository.at(join(makeTemporary(), "clone"));
  execFileSync("git", ["clone", "-q", origin.root, clone.root], { env: origin.env });
  clone.commit({ a: "2\n" });
  clone.commit({ a: "3\n" });
  origin.commit({ b: "1\n" });
  clone.git("fetch", "-q");
  expect(await read(clone)).toMatchObject({ branch: "main", upstream: "origin/main", ahead: 2, behind: 1 });
  clone.git("checkout", "-q", "--detach");
  const entry = await read(clone);
  expect(entry.branch).toBe("");
  expect(entry.head).toMatch(/^[0-9a-f]{40}$/);
  expect(entry.upstream).toBeUndefined();
});

test("renames, binary files, mode and type changes", async () => {
  const repository = GitRepository.create();
  const long = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join("");
  repository.commit({ "old b/ name": long, bin: Buffer.from([0, 1]), mode: "m\n", type: "t\n" });
  mkdirSync(join(repository.root, "new b"));
  repository.git("mv", "old b/ name", "new b/ näme");
  repository.write("bin", Buffer.from([0, 2, 3]));
  chmodSync(join(repository.root, "mode"), 0o755);
  rmSync(join(repository.root, "type"));
  symlinkSync("bin", join(repository.root, "type"));
  const entry = await read(repository);
  expect(byPath(entry)).toMatchObject({
    "new b/ näme": { old_path: "old b/ name", status: "renamed", staged: true, additions: 0, deletions: 0 },
    bin: { status: "modified", binary: true },
    mode: { status: "modified", additions: 0, deletions: 0 },
    type: { status: "type_changed" },
  });
  expect(entry.unified_diff).toContain("rename to new b/ näme\n");
  expect(entry.unified_diff).toContain("Binary files a/bin and b/bin differ\n");
  expect(entry.unified_diff).toContain("new mode 100755\n");
  expect(entry.diff_omitted).toBeUndefined();
});

test("a conflict is told as one", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n", z: "z\n" });
  repository.git("checkout", "-q", "-b", "other");
  repository.commit({ a: "2\n" });
  repository.git("checkout", "-q", "main");
  repository.commit({ a: "3\n" });
  expect(() => repository.git("merge", "other")).toThrow();
  repository.write("z", "zz\n");
  const entry = await read(repository);
  expect(byPath(entry)["a"]).toMatchObject({ status: "unmerged", staged: true, unstaged: true });
  expect(entry.unified_diff).toContain("+<<<<<<< HEAD\n");
  expect(entry.unified_diff).not.toContain("* Unmerged");
});

test("a submodule's new commit and its dirt are told", async () => {
  const inner = GitRepository.create();
  inner.commit({ a: "1\n" });
  const repository = GitRepository.create();
  repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "sub");
  repository.git("commit", "-q", "-m", "sub");
  const sub = GitRepository.at(join(repository.root, "sub"));
  sub.write("a", "2\n");
  const git = new Git(repository.env);
  expect(byPath(await read(repository, git))["sub"]).toMatchObject({ status: "modified", submodule: true });
  const head = sub.commit({ a: "3\n" });
  const entry = await read(repository, git);
  expect(entry.unified_diff).toContain(`+Subproject commit ${head}\n`);
  // The submodule itself is a repository too, by its `.git` file.
  expect(await read(sub)).toMatchObject({ repo_root: sub.root, head });
});

test("a linked work tree is a repository of its own", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const tree = GitRepository.at(join(makeTemporary(), "tree"));
  repository.git("worktree", "add", "-q", "-b", "side", tree.root);
  tree.write("a", "2\n");
  expect(await read(tree)).toMatchObject({ repo_root: tree.root, branch: "side", files: [{ path: "a" }] });
  expect(await read(repository)).toMatchObject({ branch: "main", files: [] });
});

test("a repository inside that is no submodule is named and not entered", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  mkdirSync(join(repository.root, "nested"));
  const nested = GitRepository.at(join(repository.root, "nested"));
  nested.git("init", "-q");
  nested.commit({ x: "1\n" });
  const entry = await read(repository);
  expect(entry.files).toEqual([{ path: "nested/", status: "untracked", staged: false, unstaged: true }]);
  expect(entry.unified_diff).toBeUndefined();
});

test("settings of the user change nothing", async () => {
  const repository = GitRepository.create();
  repository.commit({ "ä b": "1\n\n2\n", b: "b\n" });
  repository.write("ä b", "1\n\n3\n");
  repository.write("neü", "x\n");
  repository.git("mv", "b", "c");
  const plain = await read(repository);
  const bait = join(makeTemporary(), "ran");
  const program = join(makeTemporary(), "program");
  writeFileSync(program, `#!/bin/sh\ntouch ${bait}\n`, { mode: 0o755 });
  const settings = {
    "color.ui": "always",
    "color.diff": "always",
    "color.status": "always",
    "diff.external": program,
    "core.quotePath": "true",
    "core.fsmonitor": program,
    "core.pager": program,
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.context": "0",
    "diff.suppressBlankEmpty": "true",
    "diff.renames": "false",
    "diff.submodule": "log",
    "diff.orderFile": join(repository.root, "missing"),
    "status.renames": "false",
    "status.showUntrackedFiles": "no",
    "status.branch": "false",
    "status.aheadBehind": "false",
    "diff.wordRegex": ".",
    "diff.relative": "true",
  };
  for (const [name, value] of Object.entries(settings)) repository.git("config", name, value);
  const hostile = { ...repository.env, GIT_EXTERNAL_DIFF: program, GIT_DIR: "/nowhere", GIT_INDEX_FILE: "/nowhere" };
  expect(await read(repository, new Git(hostile))).toEqual(plain);
  expect(() => statSync(bait)).toThrow();
});

test("the index is not written, also when files were only touched", async () => {
  const repository = GitRepository.create();
  repository.commit(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, `${i}\n`])));
  const index = join(repository.root, ".git/index");
  const before = statSync(index, { bigint: true });
  utimesSync(join(repository.root, "f1"), new Date(), new Date(Date.now() - 5_000));
  repository.write("f2", "changed\n");
  const entry = await read(repository);
  expect(entry.files?.map((file) => file.path)).toEqual(["f2"]);
  expect(entry.unified_diff).not.toContain("f1");
  const after = statSync(index, { bigint: true });
  expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
});

test("what is below a broken .git is not answered from above", async () => {
  const repository = GitRepository.create();
  repository.commit({ "sub/a": "1\n" });
  mkdirSync(join(repository.root, "sub/.git"));
  expect(await placesOf(join(repository.root, "sub"))).toBeUndefined();
  renameSync(join(repository.root, "sub/.git"), join(repository.root, "sub/.other"));
  writeFileSync(join(repository.root, "sub/.git"), "gitdir: /nowhere\n");
  expect(await placesOf(join(repository.root, "sub"))).toBeUndefined();
});
