import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { defer, ignore } from "../base/index.ts";

/** A scan that takes longer is ended; the next one tries again. */
const TIMEOUT_MS = 10_000;
/** git processes at once, over all repositories. */
const AT_ONCE = 4;
const STDERR_BYTES = 4_096;

/** Words that describe why git could not answer. */
export class GitError extends Error {
  override readonly name = "GitError";
}

export interface GitCall {
  readonly root: string;
  readonly args: readonly string[];
  /** Written to stdin. */
  readonly input?: Buffer;
  /** Gets the output in pieces; `false` means that it has enough, and git is ended. */
  readonly onOutput: (chunk: Buffer) => boolean;
}

/** Settings of the user that would change what is printed, run a program of the repository, or write to its index. */
const settings = [
  "core.quotePath=false",
  "core.fsmonitor=false",
  "diff.autoRefreshIndex=false",
  "diff.suppressBlankEmpty=false",
  "diff.orderFile=/dev/null",
].flatMap((setting) => ["-c", setting]);

/** Runs git: bounded in time and number, never asking, never taking a lock that it can do without. */
export class Git {
  readonly #env: Record<string, string>;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #children = new Set<ReturnType<typeof spawn>>();
  /** Processes started so far. */
  started = 0;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = { ...cleanEnvironment(env), GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  }

  /** Everything that git prints, up to `mostBytes`. Codes in `codes` are answers too. */
  async read(root: string, args: readonly string[], o: { mostBytes: number; input?: Buffer; codes?: number[] }) {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onOutput = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      return bytes <= o.mostBytes;
    };
    const code = await this.run({ root, args, onOutput, ...(o.input && { input: o.input }) }, o.codes);
    if (bytes > o.mostBytes) throw new GitError(`git ${args[0]} printed more than ${o.mostBytes >> 20} MiB.`);
    return { code, output: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) };
  }

  async run(call: GitCall, codes: readonly number[] = []): Promise<number> {
    while (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      return await this.#run(call, codes);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  async #run({ root, args, input, onOutput }: GitCall, codes: readonly number[]): Promise<number> {
    this.started++;
    // Never a repository above: what is broken here must not be answered from there.
    const env = { ...this.#env, GIT_CEILING_DIRECTORIES: dirname(root) };
    // A session of its own, so that filters and submodules' gits end with it.
    const child = spawn("git", ["--no-optional-locks", ...settings, ...args], {
      cwd: root,
      env,
      detached: true,
    });
    this.#children.add(child);
    const closed = defer<number | null>();
    child.once("error", (error) => closed.reject(toError(error, root)));
    child.once("close", (code) => closed.resolve(code));
    let why: "late" | "enough" | undefined;
    const end = (reason: "late" | "enough") => {
      why ??= reason;
      endGroup(child);
    };
    const timer = setTimeout(() => end("late"), TIMEOUT_MS);
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (complaint.length < STDERR_BYTES) complaint += chunk.toString();
    });
    child.stdout.on("data", (chunk: Buffer) => {
      if (why === undefined && !onOutput(chunk)) end("enough");
    });
    child.stdin.on("error", (error) => ignore(error, "git did not want to read all of it; its code says why"));
    child.stdin.end(input);
    try {
      const code = await closed.promise;
      if (why === "late") throw new GitError(`git ${args[0]} took longer than ${TIMEOUT_MS / 1000} s and was ended.`);
      if (why === "enough" || code === 0 || (code !== null && codes.includes(code))) return code ?? 0;
      throw new GitError(firstWords(complaint) || `git ${args[0]} ended with code ${code}.`);
    } finally {
      clearTimeout(timer);
      this.#children.delete(child);
    }
  }

  /** Ends what still runs; whoever waits for it gets an error. */
  close(): void {
    for (const child of this.#children) endGroup(child);
  }
}

function endGroup(child: ReturnType<typeof spawn>): void {
  // Not waited for yet, so the pid is still its own.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    ignore(error, "it ended by itself");
  }
  // Somebody who left the group may hold the pipes open; `close` must come all the same.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function toError(error: NodeJS.ErrnoException, root: string): GitError {
  const isMissing = error.code === "ENOENT" && error.path === "git";
  const words = isMissing ? "git is not installed, or not on the daemon's PATH." : `git cannot be run in ${root}.`;
  return new GitError(words, { cause: error });
}

/** Its own variables would point git at another repository, index or diff program. How it finds its settings stays. */
function cleanEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!entry[0].startsWith("GIT_") || /^GIT_(CONFIG_|EXEC_PATH$)/.test(entry[0])),
  );
  return Object.fromEntries(kept);
}

const COMPLAINT_CHARS = 500;

function firstWords(complaint: string): string {
  return complaint.trim().slice(0, COMPLAINT_CHARS);
}
