import { execFileSync } from "node:child_process";
import {
  chmodSync,
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
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/sdk/index.ts";
import { type Answer, RealDaemon } from "../support/real-daemon.ts";

const MIB = 1 << 20;
let daemon: RealDaemon;
let folder: string;
beforeAll(async () => {
  daemon = await RealDaemon.start();
  folder = mkdtempSync(join(tmpdir(), "drover-e2e-files-"));
});
afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

const inside = (name: string) => join(folder, name);
function ask(method: string, route: string, query: Record<string, string>, body?: unknown): Promise<Answer> {
  return daemon.call(method, `/api/v0/${route}?${new URLSearchParams(query)}`, body);
}

describe("a client of the original file API", () => {
  test("writes, reads, lists and resolves with the original's fields", async () => {
    const path = inside("new/deep/ä.txt");
    const written = await ask("POST", "write-file", { path }, "one\ntwo\n");
    expect(written).toMatchObject({ status: 200, body: { message: `Successfully wrote to "${path}"` } });
    expect(statSync(path).mode & 0o777).toBe(0o644);
    const read = await ask("GET", "read-file", { path, offset: "4", limit: "3" });
    expect([read.status, read.body]).toEqual([200, "two"]);
    expect(read.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(read.headers.get("content-length")).toBe("3");
    const lines = await ask("GET", "read-file-lines", { path });
    expect(lines).toMatchObject({
      status: 200,
      body: { success: true, file_size: 8, total_lines: 2, lines_read: 2, content: "1\tone\n2\ttwo" },
    });
    symlinkSync("new/deep", inside("link"));
    const list = await ask("POST", "list-directory", {}, { path: folder.split("/").slice(1), relativity: "root" });
    expect(list.body).toEqual({
      absolute_path: folder.split("/").slice(1),
      absolute_path_string: folder,
      contents: ["link", "new"].map((name) => ({ name, absolute_path_string: inside(name), is_dir: true })),
    });
    const resolved = await ask("GET", "resolve-path", { path: inside("link/not/yet") });
    expect(resolved.body).toEqual({ resolved_path: inside("new/deep/not/yet") });
  });

  test("edits several files at once and sees the difference", async () => {
    writeFileSync(inside("a.ts"), "function a() {\r\n\treturn 1;\r\n}\r\n", { mode: 0o755 });
    writeFileSync(inside("b.ts"), "x\nx\n");
    const files = [
      {
        path: inside("a.ts"),
        edits: [{ search: "function a() {\n    return 1;\n}", replace: "function a() {\n    return 2;\n}" }],
      },
      { path: inside("b.ts"), edits: [{ search: "x", replace: "y", replace_all: true }] },
    ];
    const edited = await ask("POST", "edit-files", {}, { files, include_diff: true });
    expect(edited.status).toBe(200);
    expect(edited.body.files[0]).toEqual({
      path: inside("a.ts"),
      diff: `--- ${inside("a.ts")}\n+++ ${inside("a.ts")}\n@@ -1,3 +1,3 @@\n function a() {\r\n-\treturn 1;\r\n+\treturn 2;\r\n }\r\n`,
    });
    expect(readFileSync(inside("a.ts"), "utf8")).toBe("function a() {\r\n\treturn 2;\r\n}\r\n");
    expect(statSync(inside("a.ts")).mode & 0o777).toBe(0o755);
    expect(readFileSync(inside("b.ts"), "utf8")).toBe("y\ny\n");
    expect(
      (
        await ask(
          "POST",
          "edit-files",
          {},
          { files: [{ path: inside("b.ts"), edits: [{ search: "y\ny\n", replace: "z" }] }] },
        )
      ).body,
    ).toEqual({});
  });

  test("hears what is wrong, and nothing is changed by it", async () => {
    writeFileSync(inside("c"), "a\na\n");
    execFileSync("mkfifo", [inside("pipe")]);
    const one = (search: string) => ({ files: [{ path: inside("c"), edits: [{ search, replace: "" }] }] });
    const cases: [string, string, Record<string, string>, unknown, number, string][] = [
      ["GET", "read-file", { path: "relative" }, undefined, 400, "file/bad-path"],
      ["GET", "read-file", { path: "/a\0b" }, undefined, 400, "file/bad-path"],
      ["GET", "read-file", {}, undefined, 400, "request/invalid"],
      ["GET", "read-file", { path: inside("none") }, undefined, 404, "file/not-found"],
      ["GET", "read-file", { path: folder }, undefined, 400, "file/not-a-file"],
      ["GET", "read-file", { path: inside("pipe") }, undefined, 400, "file/not-a-file"],
      ["GET", "read-file", { path: inside("c"), offset: "-1" }, undefined, 400, "request/invalid"],
      ["GET", "read-file", { path: inside("c"), ofset: "1" }, undefined, 400, "request/unknown-field"],
      ["GET", "resolve-path", { path: "relative" }, undefined, 400, "file/bad-path"],
      ["POST", "list-directory", { path: inside("none") }, {}, 404, "file/not-found"],
      ["POST", "list-directory", { path: inside("c") }, {}, 400, "file/not-a-directory"],
      ["POST", "write-file", { path: "relative" }, "x", 400, "file/bad-path"],
      ["POST", "write-file", { path: inside("pipe") }, "x", 400, "file/not-a-file"],
      ["POST", "write-file", { path: inside("c/below") }, "x", 400, "file/not-a-directory"],
      ["POST", "edit-files", {}, "", 400, "request/invalid-json"],
      ["POST", "edit-files", {}, {}, 400, "request/invalid"],
      ["POST", "edit-files", {}, { files: [] }, 400, "request/invalid"],
      ["POST", "edit-files", {}, one(""), 400, "request/invalid"],
      ["POST", "edit-files", {}, one("b"), 400, "file/no-match"],
      ["POST", "edit-files", {}, one("a"), 400, "file/ambiguous-match"],
      ["POST", "edit-files", {}, one("x".repeat(4 * MIB)), 413, "request/too-large"],
    ];
    for (const [method, route, query, body, status, code] of cases) {
      const answer = await ask(method, route, query, body);
      expect([route, query, answer.status, answer.body.code]).toEqual([route, query, status, code]);
      expect(answer.body.message.length).toBeGreaterThan(20);
    }
    expect(readFileSync(inside("c"), "utf8")).toBe("a\na\n");
    for (const path of ["relative", inside("none"), inside("pipe")]) {
      const lines = await ask("GET", "read-file-lines", { path });
      expect(lines).toMatchObject({ status: 200, body: { success: false, lines_read: 0, content: "" } });
    }
    expect(readdirSync(folder).filter((name) => name.startsWith(".drover"))).toEqual([]);
  });

  test("moves 100 MB both ways without the daemon growing by it", async () => {
    const { url, token } = daemon;
    const client = createClient({ url, token });
    const before = daemon.rssBytes();
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, daemon.rssBytes())), 10);
    async function* content() {
      for (let i = 0; i < 100; i++) yield Buffer.alloc(MIB, i);
    }
    const path = inside("large");
    expect(await client.files.write({ path }, content())).toMatchObject({ bytes: 100 * MIB, created: true });
    let bytes = 0;
    for await (const chunk of (await client.files.read({ path })).chunks()) bytes += chunk.length;
    clearInterval(watch);
    client.close();
    expect(bytes).toBe(100 * MIB);
    expect(peak - before).toBeLessThan(64 * MIB);
  });

  test("gets one of the texts when many write the same file, also when the daemon is killed meanwhile", async () => {
    const path = inside("fought-over");
    const texts = Array.from({ length: 8 }, (_, i) => String(i).repeat(2 * MIB));
    await Promise.all(texts.map((text) => ask("POST", "write-file", { path }, text)));
    expect(texts.includes(readFileSync(path, "utf8"))).toBe(true);
    const before = readFileSync(path, "utf8");
    const doomed = texts.map((text) => ask("POST", "write-file", { path }, text).catch(() => undefined));
    await daemon.restart();
    await Promise.all(doomed);
    expect([before, ...texts].includes(readFileSync(path, "utf8"))).toBe(true);
    for (const name of readdirSync(folder).filter((each) => each.startsWith(".drover"))) rmSync(inside(name));
  });

  test("without a token gets nothing", async () => {
    mkdirSync(inside("shut"));
    chmodSync(inside("shut"), 0o700);
    const bare = await fetch(`${daemon.url}/api/v0/read-file?path=/etc/hostname`);
    expect(bare.status).toBe(401);
    const write = await fetch(`${daemon.url}/api/v0/write-file?path=${inside("x")}`, { method: "POST", body: "x" });
    expect(write.status).toBe(401);
    expect(readdirSync(folder)).not.toContain("x");
  });
});
