import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const root = resolve(import.meta.dirname, "../..");
/** A fixture program of test/fixtures/programs. */
export const program = (name: string) => join(root, "build/test/programs", name);

export interface Answer {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are judged by the assertions on them
  body: any;
}

/** The built daemon as a process of its own, in a home of its own. */
export class RealDaemon {
  readonly home: string;
  readonly dist: string;
  private child: ChildProcess | undefined;
  stderr = "";

  private constructor(home: string, dist: string) {
    this.home = home;
    this.dist = dist;
  }

  static async start(o: { config?: object; home?: string; dist?: string } = {}): Promise<RealDaemon> {
    const home = o.home ?? mkdtempSync(join(tmpdir(), "drover-e2e-"));
    const daemon = new RealDaemon(home, o.dist ?? join(root, "dist"));
    if (o.config) writeFileSync(join(home, "config.json"), JSON.stringify(o.config), { mode: 0o600 });
    await daemon.spawn();
    return daemon;
  }

  async spawn(): Promise<void> {
    const child = spawn(
      process.execPath,
      [join(this.dist, "cli/main.js"), "serve", "--port", "0", "--home", this.home],
      { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, DROVER_PROCESS_ID: undefined } },
    );
    this.child = child;
    child.stderr?.on("data", (text) => {
      this.stderr += text;
    });
    for (let i = 0; this.ready()?.pid !== child.pid; i++) {
      if (child.exitCode !== null || i > 2000) throw new Error(`the daemon did not start: ${this.stderr}`);
      await sleep(10);
    }
  }

  ready(): { url: string; socket: string; pid: number } | undefined {
    const path = join(this.home, "daemon.json");
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
  }

  get url(): string {
    return this.ready()?.url ?? "";
  }

  get token(): string {
    return readFileSync(join(this.home, "token"), "utf8").trim();
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  rssBytes(): number {
    const text = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json");
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  }

  /** Below /api/v0/processes. */
  process(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.call(method, `/api/v0/processes/${path}`, body, headers);
  }

  /** Starts and gives the id; fails the test when that fails. */
  async started(body: object, headers?: Record<string, string>): Promise<string> {
    const answer = await this.process("POST", "start", body, headers);
    if (answer.status !== 200) throw new Error(`start answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await gone;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.spawn();
  }

  /** Stops everything it runs, ends it, removes its home. */
  async close(): Promise<void> {
    const alive = this.child && this.child.exitCode === null && this.child.signalCode === null;
    if (!alive) await this.spawn();
    await this.call("POST", "/api/v0/shutdown", { stop_all: true });
    await this.kill("SIGTERM");
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Living processes that carry this process id in their environment. */
export function membersOf(id: string, pids: readonly string[]): string[] {
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`DROVER_PROCESS_ID=${id}`);
    } catch {
      return false;
    }
  });
}
