import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mainPath } from "../support/mcp-client.ts";
import { RealDaemon } from "../support/real-daemon.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "drover-install-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function install(...args: string[]) {
  const env = { HOME: home, PATH: "/usr/bin:/bin" };
  const run = spawnSync(process.execPath, [mainPath, "mcp", "install", ...args], { cwd: home, env, encoding: "utf8" });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

function put(path: string, text: string, mode = 0o600): string {
  const whole = join(home, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text, { mode });
  return whole;
}

const files = {
  claude: ".mcp.json",
  codex: ".codex/config.toml",
  gemini: ".gemini/settings.json",
  opencode: ".config/opencode/opencode.json",
  cursor: ".cursor/mcp.json",
  vscode: ".vscode/mcp.json",
};

describe("drover mcp install", () => {
  test.each(Object.entries(files))("%s: writes the file, and does nothing the second time", (client, file) => {
    const first = install(client, "--yes");
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toContain("+");
    const text = readFileSync(join(home, file), "utf8");
    expect(text).toContain(mainPath);
    const second = install(client, "--yes");
    expect(second).toMatchObject({ code: 0, out: expect.stringContaining("already") });
    expect(readFileSync(join(home, file), "utf8")).toBe(text);
    expect(readdirSync(dirname(join(home, file))).filter((name) => name.endsWith(".bak"))).toEqual([]);
  });

  test("shows the change, keeps the old file beside it, its mode, and what a link leads to", () => {
    const before = '{\n    "theme": "dark"\n}\n';
    const real = put("dotfiles/settings.json", before, 0o640);
    mkdirSync(join(home, ".gemini"));
    symlinkSync(real, join(home, ".gemini/settings.json"));
    const { code, out } = install("gemini", "--tools", "gemini", "--yes");
    expect(code).toBe(0);
    expect(out).toContain(' {\n-    "theme": "dark"\n+    "theme": "dark",\n+    "mcpServers": {');
    expect(lstatSync(join(home, ".gemini/settings.json")).isSymbolicLink()).toBe(true);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(JSON.parse(readFileSync(real, "utf8"))).toMatchObject({
      theme: "dark",
      mcpServers: { drover: { args: [mainPath, "mcp", "--tools", "gemini"] } },
    });
    const backup = readdirSync(dirname(real)).find((name) => /^settings\.json\.\d{8}T\d{6}Z\.bak$/.test(name));
    expect(readFileSync(join(dirname(real), backup ?? ""), "utf8")).toBe(before);
  });

  test("writes nothing without a yes, and with --print only prints", () => {
    const path = put(".cursor/mcp.json", '{"mcpServers":{}}');
    const unasked = install("cursor");
    expect(unasked).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
    const printed = install("cursor", "--print");
    expect(printed.code).toBe(0);
    expect(JSON.parse(printed.out)).toMatchObject({ mcpServers: { drover: { command: process.execPath } } });
    expect(readFileSync(path, "utf8")).toBe('{"mcpServers":{}}');
  });

  test("leaves a file with comments alone and says what to put in", () => {
    const text = '{\n  // mine\n  "mcp": {}\n}\n';
    const path = put(".config/opencode/opencode.json", text);
    const { code, err } = install("opencode", "--yes");
    expect(code).toBe(2);
    expect(err).toContain("comments");
    expect(err).toContain('"drover": {');
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("asks on a terminal, and writes only after a yes", async () => {
    const daemon = await RealDaemon.start();
    const command = `HOME=${home} ${process.execPath} ${mainPath} mcp install cursor`;
    const path = join(home, ".cursor/mcp.json");
    for (const [answer, code, isWritten] of [
      ["\r", 1, false],
      ["y\r", 0, true],
    ] as const) {
      const id = await daemon.started({ command, tty: true, wait: { for: { match: "Write this" } } });
      await daemon.process("POST", `${id}/stdin`, { data: answer });
      const { body } = await daemon.process("POST", `${id}/wait`, { for: { exit: true } });
      expect(body).toMatchObject({ exit_code: code });
      expect(existsSync(path)).toBe(isWritten);
    }
    await daemon.close();
  });

  test("answers in JSON, and refuses a client that it does not know", () => {
    const { out } = install("vscode", "--yes", "--json");
    expect(JSON.parse(out)).toEqual({ client: "vscode", file: join(home, ".vscode/mcp.json"), changed: true });
    expect(install("emacs")).toMatchObject({ code: 2, err: expect.stringContaining("vscode") });
  });

  test("names the home when it is not the usual one", () => {
    install("claude", "--yes", "--home", join(home, "other"));
    expect(JSON.parse(readFileSync(join(home, ".mcp.json"), "utf8")).mcpServers.drover.args).toEqual([
      mainPath,
      "mcp",
      "--home",
      join(home, "other"),
    ]);
  });
});
