import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/index.ts";
import { placesOf } from "../../../src/git/find-repository.ts";
import { GitWatch } from "../../../src/git/index.ts";
import { Git } from "../../../src/git/run-git.ts";
import { SnapshotReader } from "../../../src/git/snapshot.ts";
import { Store } from "../../../src/store/index.ts";
import { GitRepository, makeTemporary } from "../../support/git-repository.ts";
import { chat, hasFile, log, openGitWatch, parent, untilWatched, Watcher } from "../../support/git-watcher.ts";
import { until } from "../../support/until.ts";

test("one scanner serves all connections and chats, and ends with the last", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "1\n" });
  const { git } = openGitWatch();
  git.add(chat, [parent], repository.root);
  await until("the path is taken in", () =>
    git.status(repository.root, parent).then(
      () => true,
      () => false,
    ),
  );
  const many = Array.from({ length: 50 }, (_, i) => new Watcher((s) => git.watchChat(i % 2 ? chat : parent, s)));
  await until("everybody was told", () => many.every((watcher) => watcher.entries.length > 0));
  expect(git.facts()).toEqual({ connections: 50, repositories: 1, polled: 0, reasons: [] });
  await untilWatched(git);
  const started = git.gitProcesses;
  repository.write("a", "2\n");
  await until("everybody was told again", () => many.every((watcher) => watcher.entries.some(hasFile("a"))));
  expect(git.gitProcesses - started).toBeLessThanOrEqual(4);
  for (const watcher of many) watcher.close();
  await until("nobody watches", () => git.facts().repositories === 0);
  const ended = git.gitProcesses;
  repository.write("a", "3\n");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(git.gitProcesses).toBe(ended);
});

test("a refresh is answered in any case; a chat without repositories hears nothing", async () => {
  const repository = GitRepository.create();
  const { git } = openGitWatch();
  git.add(chat, [], repository.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  const silent = new Watcher((signal) => git.watchChat(parent, signal));
  const nobody = new Watcher((signal) => git.watchChat(undefined, signal));
  await watcher.next("first", () => true);
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const count = watcher.messages.length;
  for (let i = 0; i < 1_000; i++) void watcher.session.refresh();
  await silent.session.refresh();
  await until("an answer", () => watcher.messages.length > count, { timeoutMs: 3_000 });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(watcher.messages.length).toBeLessThanOrEqual(count + 4);
  expect([...silent.messages, ...nobody.messages]).toEqual([]);
  // Subscribed before anything was there: the notice is not lost.
  git.add(parent, [], repository.root);
  await silent.next("its first", (entry) => entry.repo_root === repository.root);
});

test("paths: relative and foreign ones are passed over, links resolved, the nearest repository wins", async () => {
  const outer = GitRepository.create();
  outer.commit({ a: "1\n" });
  const inner = GitRepository.at(join(outer.root, "vendor/inner"));
  mkdirSync(inner.root, { recursive: true });
  inner.git("init", "-q");
  const link = join(makeTemporary(), "link");
  symlinkSync(inner.root, link);
  const { git, store } = openGitWatch();
  const rootsOf = () => store.gitPaths.rootsOf(chat, 0);
  for (const path of ["relative", "/nonexistent/x", "/proc", "", "a\0b"]) git.add(chat, [], path);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(rootsOf()).toEqual([]);
  git.add(chat, [parent], join(link, "missing/file.ts"));
  await until("taken in", () => rootsOf().length === 1);
  expect(rootsOf()).toEqual([inner.root]);
  expect(store.gitPaths.rootsOf(parent, 0)).toEqual([inner.root]);
  git.add(chat, [], join(outer.root, "vendor"));
  await until("taken in", () => rootsOf().length === 2);
  await expect(git.status(outer.root, parent)).rejects.toMatchObject({ code: "git/no-repository" });
  expect(await git.status(join(outer.root, "a"), chat)).toMatchObject({ repo_root: outer.root });
});

test("living processes lead to repositories that nobody named", async () => {
  const repository = GitRepository.create();
  const { git } = openGitWatch({ liveDirectories: () => [repository.root, "/"] });
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", (entry) => entry.repo_root === repository.root);
});

test("without git a connection works and is told why, once", async () => {
  const repository = GitRepository.create();
  const { git } = openGitWatch({ env: { PATH: "/nonexistent" } });
  git.add(chat, [], repository.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", (entry) => entry.error !== undefined);
  await new Promise((resolve) => setTimeout(resolve, 7_000));
  expect(watcher.entries).toEqual([
    { repo_root: repository.root, branch: "", files: [], error: "git is not installed, or not on the daemon's PATH." },
  ]);
  expect(git.facts().polled).toBe(1);
});

test("a slow reader misses states in between and gets the last one", async () => {
  const repository = GitRepository.create();
  repository.commit({ a: "0\n" });
  const { git } = openGitWatch();
  git.add(chat, [], repository.root);
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const messages = git.watchChat(chat, ending.signal).messages();
  await messages.next();
  for (let i = 1; i <= 4; i++) {
    repository.write("a", `${i}\n`);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
  }
  const { value } = await messages.next();
  expect(Buffer.concat([...(value?.pieces ?? [])]).toString()).toContain("+4\\n");
});

test("a loop of commits never meets our lock", async () => {
  const repository = GitRepository.create();
  repository.commit(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 20}/f${i}`, `${i}\n`])));
  const { git } = openGitWatch();
  git.add(chat, [], repository.root);
  const watcher = new Watcher((signal) => git.watchChat(chat, signal));
  await watcher.next("first", () => true);
  let isOver = false;
  // Far harder than a repository's own pace: each of these is a full reading of its own.
  const hammer = async () => {
    const places = await placesOf(repository.root);
    let readings = 0;
    for (; !isOver && places; readings++) await new SnapshotReader(new Git(repository.env)).read(places);
    return readings;
  };
  const hammering = [hammer(), hammer()];
  const script =
    "for i in $(seq 60); do echo $i > d1/f1; touch d2/f2; echo $i > new$i; git add -A || exit 1; git commit -qm $i || exit 1; done";
  const child = spawn("sh", ["-c", script], {
    cwd: repository.root,
    env: repository.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (text) => (complaints += text));
  const code = await new Promise((resolve) => child.once("exit", resolve));
  isOver = true;
  expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
  expect(Math.min(...(await Promise.all(hammering)))).toBeGreaterThan(5);
  const head = repository.git("rev-parse", "HEAD").trim();
  await watcher.next("the last commit", (entry) => entry.head === head);
});

test("what a chat touched is remembered over restarts, within bounds", async () => {
  const home = makeTemporary();
  const at = Date.now();
  const first = Store.open(home, { log, now: () => at });
  for (let i = 0; i < 250; i++) first.gitPaths.touch(chat, `/r${i}`, at - 250 + i);
  first.gitPaths.touch(parent, "/old", at - 31 * 86_400_000);
  first.close();
  const second = Store.open(home, { log, now: () => at });
  onTestFinished(() => second.close());
  const roots = second.gitPaths.rootsOf(chat, 0);
  expect(roots).toHaveLength(200);
  expect(roots[0]).toBe("/r249");
  new GitWatch({ store: second.gitPaths, clock: systemClock, log, env: {}, liveDirectories: () => [] }).close();
  expect(second.gitPaths.rootsOf(parent, 0)).toEqual([]);
});
