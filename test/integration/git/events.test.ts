import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GitRepository, makeTemporary } from "../../support/git-repository.ts";
import { chat, hasFile, openGitWatch, untilWatched, Watcher } from "../../support/git-watcher.ts";
import { until } from "../../support/until.ts";

test("the first message is the full state, a change follows by an event and not by the 5 s poll, silence is one heartbeat every 5 s", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n", "deep/er/b": "b\n" });
  const { git } = openGitWatch();
  git.add(chat, [], join(repository.root, "deep/er"));
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", () => true);
  expect(watcher.entries).toMatchObject([{ repo_root: repository.root, branch: "main", files: [] }]);
  await untilWatched(git);
  const started = git.gitProcesses;

  for (const [name, content] of [
    ["deep/er/b", "changed\n"],
    ["new", "x\n"],
    ["deep/er/fresh/dir/file", "x\n"],
  ] as const) {
    const from = performance.now();
    repository.write(name, content);
    await watcher.next(name, hasFile(name));
    expect(watcher.messages.at(-1)?.at).toBeLessThan(from + 4_000);
  }
  repository.write("deep/er/fresh/dir/second", "x\n");
  await watcher.next("a file in a directory that was new", hasFile("deep/er/fresh/dir/second"), 4_000);
  repository.git("add", "-A");
  await watcher.next("staging", (entry) => entry.files?.every((file) => file.staged) === true, 4_000);
  const head = repository.commit({});
  await watcher.next("a commit", (entry) => entry.head === head && entry.files?.length === 0, 4_000);
  repository.git("checkout", "-q", "-b", "feature/x");
  await watcher.next("a branch", (entry) => entry.branch === "feature/x", 4_000);
  const soft = repository.git("commit-tree", "HEAD^{tree}", "-m", "t", "-p", "HEAD").trim();
  repository.git("update-ref", "refs/heads/feature/x", soft);
  await watcher.next("a moved ref", (entry) => entry.head === soft, 4_000);
  expect(git.gitProcesses).toBeGreaterThan(started);

  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const quiet = git.gitProcesses;
  const count = watcher.messages.length;
  await until("two heartbeats", () => watcher.messages.length >= count + 2, { timeoutMs: 12_000 });
  for (const message of watcher.messages.slice(count)) expect(message.repositories).toBeUndefined();
  expect(git.gitProcesses).toBe(quiet);
});

test("an ignored file that grows all day costs one look", async () => {
  const repository = GitRepository.create();
  repository.commit({ ".gitignore": "*.log\nbuild/\n", a: "1\n" });
  repository.write("server.log", "x\n");
  const { git } = openGitWatch();
  git.add(chat, [], repository.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", () => true);
  await untilWatched(git);
  repository.write("server.log", "y\n");
  repository.write("build/out", "y\n");
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const learnt = git.gitProcesses;
  for (let i = 0; i < 30; i++) {
    repository.write("server.log", `${i}\n`);
    repository.write("build/out", `${i}\n`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(git.gitProcesses - learnt).toBe(0);
  // What stops being ignored is seen again.
  repository.write(".gitignore", "build/\n");
  await watcher.next("the log", hasFile("server.log"), 2_000);
});

test("a directory that goes and comes back is watched again, also under another name", async () => {
  const repository = GitRepository.create();
  repository.commit({ "d/e/a": "1\n" });
  const { git } = openGitWatch();
  git.add(chat, [], repository.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", () => true);
  await untilWatched(git);
  rmSync(join(repository.root, "d"), { recursive: true });
  await watcher.next("gone", (entry) => entry.files?.[0]?.status === "deleted", 4_000);
  repository.write("d/e/a", "1\n");
  await watcher.next("back", (entry) => entry.files?.length === 0, 4_000);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  repository.write("d/e/a", "2\n");
  await watcher.next("changed", hasFile("d/e/a"), 4_000);
  renameSync(join(repository.root, "d"), join(repository.root, "f"));
  await watcher.next("moved", hasFile("f/e/a"), 4_000);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  repository.write("f/e/b", "x\n");
  await watcher.next("new in the moved one", hasFile("f/e/b"), 4_000);
});

test("a repository that vanishes is told once as removed, and comes back when it is touched", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const { git } = openGitWatch();
  git.add(chat, [], repository.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", () => true);
  rmSync(repository.root, { recursive: true });
  const gone = await watcher.next("removed", (entry) => entry.removed === true);
  expect(gone).toEqual({ repo_root: repository.root, branch: "", removed: true });
  await until("nothing is watched", () => git.facts().repositories === 0);
  mkdirSync(repository.root);
  repository.git("init", "-q", "-b", "again");
  git.add(chat, [], repository.root);
  await watcher.next("back", (entry) => entry.branch === "again");
  expect(watcher.entries.filter((entry) => entry.removed)).toHaveLength(1);
});

test("a .git file that points nowhere is a removed repository", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const tree = GitRepository.at(join(makeTemporary(), "tree"));
  repository.git("worktree", "add", "-q", "-b", "side", tree.root);
  const { git } = openGitWatch();
  git.add(chat, [], tree.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", (entry) => entry.branch === "side");
  await untilWatched(git);
  // Commits in the linked tree move refs of the main one.
  const head = tree.commit({ b: "1\n" });
  await watcher.next("a commit", (entry) => entry.head === head, 4_000);
  rmSync(join(repository.root, ".git/worktrees"), { recursive: true });
  await watcher.next("removed", (entry) => entry.removed === true);
});

test("a submodule's changes and commits are events too", async () => {
  const inner = GitRepository.create();
  inner.commit({ "d/a": "1\n" });
  const repository = GitRepository.create();
  repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "sub");
  repository.git("commit", "-q", "-m", "sub");
  const { git } = openGitWatch();
  git.add(chat, [], repository.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", () => true);
  await untilWatched(git);
  const sub = GitRepository.at(join(repository.root, "sub"));
  sub.write("d/a", "2\n");
  await watcher.next("dirt", hasFile("sub"), 4_000);
  const head = sub.commit({});
  await watcher.next(
    "a commit",
    (entry) => entry.unified_diff?.includes(`+Subproject commit ${head}\n`) === true,
    4_000,
  );
});

test("an editor's way of saving (a new file moved over the old one) is seen", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const { git } = openGitWatch();
  const watcher = new Watcher((signal) => {
    git.add(chat, [], repository.root);
    return git.watchChat(chat, signal);
  });
  await watcher.next("first", () => true);
  await untilWatched(git);
  writeFileSync(join(repository.root, ".a.swp"), "2\n");
  renameSync(join(repository.root, ".a.swp"), join(repository.root, "a"));
  await watcher.next("saved", hasFile("a"), 4_000);
});
