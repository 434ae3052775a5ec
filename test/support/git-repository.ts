import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** No setting of the machine or its user; a test says what it needs. */
const env: Record<string, string> = {
  PATH: process.env["PATH"] ?? "",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
  GIT_ALLOW_PROTOCOL: "file",
};

/** A real repository in a directory of its own, gone after the test. */
export class GitRepository {
  readonly root: string;
  readonly env = env;

  private constructor(root: string) {
    this.root = root;
  }

  static create(...options: string[]): GitRepository {
    const repository = GitRepository.at(join(makeTemporary(), "repo"));
    mkdirSync(repository.root);
    repository.git("init", "-q", "-b", "main", ...options);
    return repository;
  }

  static at(root: string): GitRepository {
    return new GitRepository(root);
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.root, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  write(name: string, content: string | Buffer): void {
    const path = join(this.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** Writes, stages and commits. */
  commit(files: Record<string, string | Buffer>, message = "more"): string {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
    this.git("add", "-A");
    this.git("commit", "-q", "--allow-empty", "-m", message);
    return this.git("rev-parse", "HEAD").trim();
  }
}

/** A directory whose path has no symbolic link, gone after the test. */
export function makeTemporary(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "drover-git-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
