import { execFileSync } from "node:child_process";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { placesOf } from "../../../src/git/find-repository.ts";
import { Git } from "../../../src/git/run-git.ts";
import { SnapshotReader } from "../../../src/git/snapshot.ts";
import { GitRepository, makeTemporary } from "../../support/git-repository.ts";
import { byPath, readSnapshot as read } from "../../support/git-snapshot.ts";

describe("bounds", () => {
  test("a diff that does not fit is left out whole and listed; the counts stay", async () => {
    const repository = GitRepository.create();
    repository.commit({ big: "x\n", small: "x\n" });
    // Each line takes a byte more in JSON, quotes two: 2 MiB of them are more than the 3 MiB that a diff may take.
    repository.write("big", `${'"'.repeat(63)}\n`.repeat(32_768));
    repository.write("small", "y\n");
    repository.write("untracked-big", `${'"'.repeat(63)}\n`.repeat(32_768));
    repository.write("untracked-small", "z\n");
    repository.write("huge", `${"h".repeat(1023)}\n`.repeat(5 << 10));
    const entry = await read(repository);
    expect(entry.diff_omitted?.toSorted()).toEqual(["big", "huge", "untracked-big"]);
    expect(byPath(entry)["big"]).toMatchObject({ additions: 32_768, deletions: 1 });
    expect(byPath(entry)["untracked-big"]).toMatchObject({ additions: 32_768 });
    expect(byPath(entry)["huge"]).toMatchObject({ additions: 5 << 10 });
    expect(entry.unified_diff).toContain("+y\n");
    expect(entry.unified_diff).toContain("+z\n");
    expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThan(4 << 20);
  });

  test("thousands of changed files stay within a frame, and the rest is counted", async () => {
    const repository = GitRepository.create();
    repository.commit({ a: "1\n" });
    const name = "n".repeat(200);
    for (let i = 0; i < 6_000; i++) repository.write(`d/${name}${i}`, `${i}\n`);
    const entry = await read(repository);
    const shown = entry.files?.length ?? 0;
    expect(shown).toBeGreaterThan(1_000);
    expect(shown + (entry.files_omitted ?? 0)).toBe(6_000);
    expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThan(4 << 20);
  });
});

describe("cost", () => {
  test("a scan without a change is one process, with one two", async () => {
    const repository = GitRepository.create();
    repository.commit({ a: "1\n" });
    repository.write("a", "2\n");
    for (let i = 0; i < 20; i++) repository.write(`new${i}`, "x\n");
    const old = new Date(Date.now() - 10_000);
    for (const name of ["a", ...Array.from({ length: 20 }, (_, i) => `new${i}`)])
      utimesSync(join(repository.root, name), old, old);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const git = new Git(repository.env);
    const places = await placesOf(repository.root);
    if (!places) throw new Error("no repository");
    const reader = new SnapshotReader(git);
    const first = await reader.read(places);
    expect(git.started).toBe(3);
    expect(await reader.read(places)).toBe(first);
    expect(git.started).toBe(4);
    repository.write("a", "3\n");
    const second = await reader.read(places);
    expect(second).not.toBe(first);
    expect(git.started).toBe(6);
  });
});

describe("a git that cannot answer", () => {
  test("is missing", async () => {
    const repository = GitRepository.create();
    const entry = await read(repository, new Git({ PATH: "/nonexistent" }));
    expect(entry).toMatchObject({ branch: "", error: "git is not installed, or not on the daemon's PATH." });
  });

  test("hangs, and is ended with what it started", async () => {
    const repository = GitRepository.create();
    const bin = makeTemporary();
    writeFileSync(join(bin, "git"), "#!/bin/sh\nsleep 987 & wait\n", { mode: 0o755 });
    const entry = await read(repository, new Git({ PATH: `${bin}:${process.env["PATH"]}` }));
    expect(entry.error).toBe("git status took longer than 10 s and was ended.");
    expect(() => execFileSync("pgrep", ["-f", "^sleep 987$"])).toThrow();
  });

  test("refuses a repository of somebody else and says so", async () => {
    const repository = GitRepository.create();
    repository.commit({ a: "1\n" });
    const bin = makeTemporary();
    // Only the daemon's environment is cleaned, so the refusal is asked for where git starts.
    const real = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
    writeFileSync(join(bin, "git"), `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec ${real} "$@"\n`, {
      mode: 0o755,
    });
    const entry = await read(repository, new Git({ ...repository.env, PATH: `${bin}:${process.env["PATH"]}` }));
    expect(entry.error).toMatch(/dubious ownership/);
  });

  test("has a broken index", async () => {
    const repository = GitRepository.create();
    repository.commit({ a: "1\n" });
    writeFileSync(join(repository.root, ".git/index"), "rubbish");
    expect((await read(repository)).error).toMatch(/index/);
  });
});
