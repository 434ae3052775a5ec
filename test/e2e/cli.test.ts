import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const main = resolve(import.meta.dirname, "../../dist/cli/main.js");
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Ran {
  code: number;
  out: string;
  err: string;
}

/** A home of its own with the command line pointed at it. */
class Home {
  readonly path: string;

  constructor(path = mkdtempSync(join(tmpdir(), "drover-cli-"))) {
    this.path = path;
  }

  run(args: string[], o: { env?: Record<string, string>; input?: string | Buffer; cwd?: string } = {}): Promise<Ran> {
    return new Promise((done) => {
      const child = execFile(
        process.execPath,
        [main, ...args],
        { env: this.env(o.env), cwd: o.cwd, maxBuffer: 64 << 20 },
        (error, out, err) => {
          const code = error ? (typeof error.code === "number" ? error.code : -1) : 0;
          done({ code, out, err });
        },
      );
      child.stdin?.end(o.input ?? "");
    });
  }

  /** A command that goes on; its output so far is in `text`. */
  spawn(args: string[]): { child: ChildProcess; text: () => string; exit: Promise<number | NodeJS.Signals> } {
    const child = spawn(process.execPath, [main, ...args], { env: this.env(), stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
    const exit = new Promise<number | NodeJS.Signals>((done) =>
      child.on("exit", (code, signal) => done(signal ?? code ?? -1)),
    );
    return { child, text: () => text, exit };
  }

  env(more: Record<string, string> = {}): Record<string, string> {
    // A free port each, so that homes do not meet; the background daemon takes one anyway when it must.
    return { PATH: process.env["PATH"] ?? "", HOME: this.path, DROVER_HOME: this.path, DROVER_PORT: "0", ...more };
  }

  async start(args: string[]): Promise<string> {
    const { code, out, err } = await this.run(["start", ...args]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out.trim();
  }

  async close(): Promise<void> {
    await this.run(["shutdown", "--stop-all"]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error("it did not come true in time");
    await sleep(20);
  }
}

describe.skipIf(!existsSync(main))("drover (build first: npm run build)", () => {
  let home: Home;
  beforeAll(() => {
    home = new Home();
  });
  afterAll(() => home.close());

  it("starts a daemon by itself, once for any number of commands at the same time", async () => {
    expect((await home.run(["status"])).code).toBe(4);
    const all = await Promise.all(Array.from({ length: 4 }, () => home.run(["ps", "--json"])));
    expect(all.map((r) => r.code)).toEqual([0, 0, 0, 0]);
    const status = JSON.parse((await home.run(["status", "--json"])).out) as { pid: number };
    expect(JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8"))).toMatchObject({ pid: status.pid });
    expect(readFileSync(join(home.path, "daemon.log"), "utf8").match(/daemon is ready/g)).toHaveLength(1);
    expect(statSync(join(home.path, "daemon.log")).mode & 0o777).toBe(0o600);
  });

  it("pain P14: prints the full id into a pipe and finds it again by prefix and label", async () => {
    const id = await home.start(["--label", "named", "--", "sh", "-c", "echo out; exit 3"]);
    expect(id).toMatch(uuid);
    for (const name of [id, id.slice(0, 8), id.slice(0, 4), "named"])
      expect((await home.run(["wait", name])).code).toBe(3);
    expect((await home.run(["logs", "named"])).out).toBe("out\n");
    expect((await home.run(["ps", "-a", "-q"])).out).toContain(id);
    expect((await home.run(["ps"])).out).toMatch(
      new RegExp(`${id.slice(0, 8)}  exited 3 +\\d+s  named  sh -c echo out; exit 3`),
    );
  });

  it("names the candidates when a label means several running processes", async () => {
    const ids = [
      await home.start(["-l", "twin", "--", "sleep", "60"]),
      await home.start(["-l", "twin", "--", "sleep", "60"]),
    ];
    const { code, err } = await home.run(["logs", "twin"]);
    expect(code).toBe(3);
    for (const id of ids) expect(err).toContain(id.slice(0, 8));
    const stopped = await home.run(["stop", ...ids, "--kill"]);
    expect(stopped.code).toBe(0);
    expect(stopped.out.match(/SIGKILL {3}sleep 60/g)).toHaveLength(2);
  });

  it.each([
    [["-c", "exit 9"], ["wait"], 9],
    [["-c", "kill -TERM $$"], ["wait"], 143],
    [["--", "sleep", "60"], ["wait", "--timeout", "200ms"], 124],
    [["-c", "echo ready; sleep 60"], ["wait", "--for", "match:^ready$"], 0],
    [["--", "true"], ["wait", "--for", "match:never"], 1],
    [["-c", "exit 5"], ["wait", "--for", "port:1"], 5],
  ])("start %j, %j exits with %d", async (start, [command = "", ...options], expected) => {
    const id = await home.start(start);
    expect((await home.run([command, id, ...options])).code).toBe(expected);
    await home.run(["stop", id, "--kill"]);
  });

  it("exits with 125 when what is waited for does not exist", async () => {
    expect(await home.run(["wait", "nothing"])).toMatchObject({
      code: 125,
      err: expect.stringContaining("nothing") as string,
    });
  });

  it("start --wait is the command: its output, its bytes, its code", async () => {
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, i) => (i * 31) % 251));
    writeFileSync(join(home.path, "bytes"), bytes);
    const { code, out } = await home.run(["start", "--wait", "--stdin", "-", "-c", "md5sum; exit 6"], { input: bytes });
    const sum = await home.run(["start", "--wait", "-w", home.path, "--", "md5sum", "bytes"]);
    expect(code).toBe(6);
    expect(out.slice(0, 32)).toBe(sum.out.slice(0, 32));
    expect((await home.run(["start", "--wait", "--", "no-such-command"])).code).toBe(127);
  });

  it("runs in the caller's directory with the variables that were passed on", async () => {
    const { out } = await home.run(["start", "--wait", "-e", "A=1", "-e", "B", "-c", 'echo "$PWD $A $B"'], {
      cwd: "/usr",
      env: { B: "two" },
    });
    expect(out).toBe("/usr 1 two\n");
  });

  it("advises -c for a shell text that was given as a word", async () => {
    expect(await home.run(["start", "--", "echo a | cat"])).toMatchObject({
      code: 127,
      err: expect.stringContaining("use -c") as string,
    });
  });

  it("logs -f shows what is written until the end, and Ctrl-C leaves the process alone", async () => {
    const id = await home.start(["-c", "for i in 1 2 3; do echo $i; sleep 0.1; done"]);
    expect((await home.run(["logs", "-f", id])).out).toBe("1\n2\n3\n");
    const longer = await home.start(["-c", "echo begun; sleep 60"]);
    const follower = home.spawn(["logs", "-f", longer]);
    await until(() => follower.text() === "begun\n");
    follower.child.kill("SIGINT");
    expect(await follower.exit).toBe("SIGINT");
    expect((await home.run(["ps", "-q"])).out).toContain(longer);
    await home.run(["stop", longer]);
  });

  it("logs follows through a restart of the daemon without losing or repeating a byte", async () => {
    const id = await home.start(["-c", "for i in $(seq 1 40); do echo $i; sleep 0.05; done"]);
    const follower = home.spawn(["logs", "-f", id]);
    await until(() => follower.text().includes("5\n"));
    expect((await home.run(["shutdown"])).out).toContain("1 kept running");
    await home.run(["ps"]);
    expect(await follower.exit).toBe(0);
    expect(follower.text()).toBe(Array.from({ length: 40 }, (_, i) => `${i + 1}\n`).join(""));
  });

  it("prints the last lines", async () => {
    const id = await home.start(["--", "seq", "1", "30000"]);
    await home.run(["wait", id]);
    expect((await home.run(["logs", "-n", "2", id])).out).toBe("29999\n30000\n");
    expect((await home.run(["logs", "-n", "20000", id])).out.split("\n")).toHaveLength(20_001);
    expect((await home.run(["logs", "-f", "-n", "1", id])).out).toBe("30000\n");
  });

  it("shows text without escapes on request, also while it follows", async () => {
    const id = await home.start(["-c", "printf 'a\\033[31mb\\033[0m\\nold\\rnew\\n'"]);
    await home.run(["wait", id]);
    expect((await home.run(["logs", id])).out).toBe("a\x1b[31mb\x1b[0m\nold\rnew\n");
    expect((await home.run(["logs", "--text", id])).out).toBe("ab\nnew\n");
    expect((await home.run(["logs", "--text", "-f", id])).out).toBe("ab\nnew\n");
  });

  it("answers in JSON, failures too", async () => {
    const started = JSON.parse((await home.run(["--json", "start", "--", "true"])).out) as { id: string };
    expect(started.id).toMatch(uuid);
    expect(JSON.parse((await home.run(["wait", started.id, "--json"])).out)).toMatchObject({
      fired: "exit",
      exit_code: 0,
    });
    expect(JSON.parse((await home.run(["ps", "--json"])).out)).toHaveProperty("processes");
    const failed = await home.run(["logs", "nothing", "--json"]);
    expect(JSON.parse(failed.err)).toMatchObject({ code: "process/not-found" });
  });

  it.each([
    [["nonsense"]],
    [["wait"]],
    [["wait", "x", "--for", "prot:1"]],
    [["logs", "--tail", "x", "y"]],
    [["completion", "tcsh"]],
  ])("%j is refused with 2", async (args) =>
    expect(await home.run(args)).toMatchObject({ code: 2, err: expect.stringMatching(/^drover: /) as string }),
  );

  it.each([
    ["--no-spawn", ["--no-spawn", "ps"], {}],
    ["--no-spawn behind the command", ["ps", "--no-spawn"], {}],
    ["a process of Drover around it", ["ps"], { DROVER_PROCESS_ID: "8d2a0c56-0000-4000-8000-000000000000" }],
  ])("starts no daemon with %s", async (_, args, env) => {
    const empty = new Home();
    expect(await empty.run(args, { env })).toMatchObject({
      code: 4,
      err: expect.stringContaining("No daemon runs") as string,
    });
    expect(existsSync(join(empty.path, "drover.sock"))).toBe(false);
    rmSync(empty.path, { recursive: true });
  });

  it("uses the running daemon from inside a process", async () => {
    const { code, out } = await home.run([
      "start",
      "--wait",
      "-e",
      `DROVER_HOME=${home.path}`,
      "--",
      process.execPath,
      main,
      "ps",
      "-q",
    ]);
    expect({ code, first: out.split("\n")[0] }).toEqual({ code: 0, first: expect.stringMatching(uuid) as string });
  });

  it("reaches a daemon by its address with the token, and says what is missing without it", async () => {
    const { url } = JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8")) as { url: string };
    const token = (await home.run(["token"])).out.trim();
    const elsewhere = new Home();
    expect((await elsewhere.run(["ps", "--json"], { env: { DROVER_URL: url, DROVER_TOKEN: token } })).code).toBe(0);
    expect(await elsewhere.run(["ps", "--url", url])).toMatchObject({
      code: 4,
      err: expect.stringContaining("DROVER_TOKEN") as string,
    });
    expect((await home.run(["ps", "--url", url])).code).toBe(0);
    rmSync(elsewhere.path, { recursive: true });
  });

  it("works in a home that is too deep for a socket address", async () => {
    const parent = mkdtempSync(join(tmpdir(), "drover-cli-"));
    const deep = new Home(join(parent, "d".repeat(60), "e".repeat(60)));
    expect((await deep.run(["start", "--wait", "--", "echo", "deep"])).out).toBe("deep\n");
    await deep.close();
    rmSync(parent, { recursive: true });
  });

  it("shows the end of the daemon's log when it does not come up", async () => {
    const broken = new Home();
    writeFileSync(join(broken.path, "config.json"), '{"prot": 1}');
    const { code, err } = await broken.run(["ps"]);
    expect(code).toBe(6);
    expect(err).toMatch(/did not come up/);
    expect(err).toMatch(/did you mean "port"/);
    rmSync(broken.path, { recursive: true });
  });

  it("ends quietly when the reader goes away", async () => {
    const id = await home.start(["--", "seq", "1", "200000"]);
    await home.run(["wait", id]);
    const shell = `${process.execPath} ${main} logs ${id} | head -n 1`;
    const result = await new Promise<string>((done) =>
      execFile("sh", ["-c", shell], { env: home.env() }, (_, out, err) => done(out + err)),
    );
    expect(result).toBe("1\n");
  });
});
