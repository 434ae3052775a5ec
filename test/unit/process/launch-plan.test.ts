import { describe, expect, test } from "vitest";
import type { Caller, ChatId, MachineId, ProcessId, StartRequest } from "../../../src/contract/index.ts";
import { configSchema } from "../../../src/contract/schemas.ts";
import { type Lookup, type PlanInput, planDirectory, planLaunch } from "../../../src/process/launch-plan.ts";
import { searchPath } from "../../../src/process/lookup.ts";

const chat = "11111111-1111-4111-8111-111111111111" as ChatId;
const caller: Caller = {
  requestId: "r",
  ancestorChatIds: [],
  scope: { kind: "all" },
  readOnly: false,
  strict: false,
  signal: new AbortController().signal,
};
const executables = new Set(["/bin/sh", "/bin/bash", "/usr/bin/git", "/srv/tools/run", "/srv/./here"]);
const lookup: Lookup = {
  directory: (path) =>
    ({ "/srv": "ok", "/home/u": "ok", "/etc/passwd": "not-directory", "/root": "forbidden" })[path] ?? "missing",
  program: (path) => (executables.has(path) ? "executable" : path === "/bin/plain" ? "file" : "missing"),
  search: (name, path, cwd) => searchPath(lookup, name, path, cwd),
} as Lookup;

function input(request: StartRequest, more: Partial<PlanInput> = {}): PlanInput {
  return {
    request,
    caller,
    config: configSchema.parse({}),
    id: "22222222-2222-4222-8222-222222222222" as ProcessId,
    machineId: "m" as MachineId,
    seq: 7,
    nowMs: 1000,
    here: { cwd: "/srv", home: "/home/u", path: "/bin:/usr/bin" },
    lookup,
    runDir: "/h/run/x",
    ...more,
  };
}

const plan = (
  request: StartRequest,
  more: Partial<PlanInput> = {},
  base: Record<string, string>[] = [{ PATH: "/usr/bin:/bin" }],
) => planLaunch(input(request, more), "/srv", base);
const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("planDirectory", () => {
  test("takes the request's, then the configured one, then home, then the daemon's own", () => {
    expect(planDirectory(input({ workdir: "/home/u" }))).toBe("/home/u");
    expect(planDirectory(input({}, { config: configSchema.parse({ directory: "/srv" }) }))).toBe("/srv");
    expect(planDirectory(input({}, { config: configSchema.parse({ directory: "/gone" }) }))).toBe("/home/u");
    expect(planDirectory(input({}, { here: { cwd: "/srv", home: undefined, path: undefined } }))).toBe("/srv");
    expect(planDirectory(input({ workdir: "" }))).toBe("/home/u");
  });

  test.each([
    ["/gone", "does not exist"],
    ["/etc/passwd", "is not a directory"],
    ["/root", "cannot be entered"],
    ["relative", "/srv/relative"],
  ])("names a bad directory: %s", (workdir, words) => {
    expect(() => planDirectory(input({ workdir }))).toThrow(words);
  });
});

describe("planLaunch", () => {
  test("runs text by sh -c, found on the daemon's PATH", () => {
    const { meta, spec } = plan({ command: "echo hi", env: { PATH: "/nowhere" } });
    expect(spec).toMatchObject({ execPath: "/bin/sh", argv: ["sh", "-c", "echo hi"], cwd: "/srv", stdin: "null" });
    expect(meta).toMatchObject({ command: "echo hi", shell: "sh", streams: "merged", seq: 7, background: false });
    expect(JSON.stringify(meta)).not.toContain("/nowhere");
  });

  test("accepts a command of blanks and refuses none, an empty one, or both", () => {
    expect(plan({ command: "  " }).meta.argv).toEqual(["sh", "-c", "  "]);
    for (const request of [{}, { command: "" }, { argv: [""] }, { command: "a", argv: ["b"] }]) {
      expect(codeOf(() => plan(request))).toBe("process/command-required");
    }
    expect(() => plan({})).toThrow("Command is required.");
  });

  test("takes another shell by name or path, as a login shell", () => {
    expect(plan({ command: "x", shell: "bash", login: true }).spec.argv).toEqual(["bash", "-l", "-c", "x"]);
    expect(plan({ command: "x", shell: "/bin/bash" }).spec).toMatchObject({
      execPath: "/bin/bash",
      argv: ["bash", "-c", "x"],
    });
    expect(codeOf(() => plan({ command: "x", shell: "fish" }))).toBe("process/unknown-shell");
    expect(codeOf(() => plan({ command: "x", shell: "/bin/plain" }))).toBe("process/unknown-shell");
  });

  test("looks for argv[0] on the final PATH, or below the directory when it has a slash", () => {
    expect(plan({ argv: ["git", "status"] }).spec).toMatchObject({ execPath: "/usr/bin/git", argv: ["git", "status"] });
    expect(plan({ argv: ["run"], env: { PATH: "tools" } }).spec.execPath).toBe("/srv/tools/run");
    expect(plan({ argv: ["./here"] }).spec.execPath).toBe("/srv/./here");
    expect(plan({ argv: ["plain"], env: { PATH: "/bin" } }).spec.execPath).toBe("/bin/plain");
    expect(codeOf(() => plan({ argv: ["git"], env: { PATH: "/bin" } }))).toBe("process/command-not-found");
  });

  test.each<[StartRequest, string]>([
    [{ command: "a\0b" }, "command"],
    [{ argv: ["a", "b\0"] }, "argv[1]"],
    [{ command: "a", env: { "A=B": "x" } }, "env"],
    [{ command: "a", env: { "": "x" } }, "env"],
    [{ command: "a", env: { A: "x\0" } }, "env.A"],
    [{ command: "a", shell: "b\0" }, "shell"],
  ])("names the field that is not acceptable: %j", (request, field) => {
    expect(codeOf(() => plan(request))).toBe("request/invalid");
    expect(() => plan(request)).toThrow(JSON.stringify(field));
  });

  test("refuses an argument the kernel would refuse, by bytes and not by characters", () => {
    expect(codeOf(() => plan({ argv: ["git", "x".repeat(131_072)] }))).toBe("process/too-long");
    expect(codeOf(() => plan({ argv: ["git", "é".repeat(65_536)] }))).toBe("process/too-long");
    expect(plan({ argv: ["git", "x".repeat(131_071)] }).spec.argv).toHaveLength(2);
  });

  test("composes the environment: base, request, chat, process", () => {
    const { spec } = plan(
      { command: "x", env: { A: "request", CODER_CHAT_ID: "mine" } },
      { caller: { ...caller, chatId: chat } },
      [{ A: "inherited", B: "inherited" }, { B: "configured" }],
    );
    expect(spec.env).toEqual(
      expect.arrayContaining([
        "A=request",
        "B=configured",
        `CODER_CHAT_ID=${chat}`,
        "DROVER_PROCESS_ID=22222222-2222-4222-8222-222222222222",
      ]),
    );
    expect(plan({ command: "x", env: { CODER_CHAT_ID: "mine" } }).spec.env).toContain("CODER_CHAT_ID=mine");
    expect(plan({ command: "x", tty: true }).spec.env).toContain("TERM=xterm-256color");
  });

  test("decides about stdin and the terminal", () => {
    expect(plan({ command: "x", stdin: "text" }).spec).toMatchObject({
      stdin: "closed",
      stdinData: Buffer.from("text"),
    });
    expect(plan({ command: "x", stdin: { open: true } }).spec).toMatchObject({ stdin: "open" });
    expect(plan({ command: "x", stdin: "" }).spec.stdin).toBe("null");
    expect(plan({ command: "x", tty: true, cols: 120 }).meta).toMatchObject({
      stdin: "open",
      streams: "tty",
      cols: 120,
      rows: 24,
    });
  });

  test("never raises the bound of the log, and keeps room for both ends", () => {
    const mib = 1 << 20;
    expect(plan({ command: "x" }).meta).toMatchObject({ log_head: 8 * mib, log_ring: 56 * mib });
    expect(plan({ command: "x", log_bytes: 1024 * mib }).meta.log_ring).toBe(56 * mib);
    expect(plan({ command: "x", log_bytes: 65_536 }).meta).toMatchObject({ log_head: 16_384, log_ring: 49_152 });
  });
});
