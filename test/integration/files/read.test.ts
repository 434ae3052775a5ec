import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listDirectory, openFile, readLines, resolvePath } from "../../../src/files/index.ts";
import { codeOf, faultOf, folder, withoutRights } from "./folder.ts";

async function contentOf(path: string, range = {}): Promise<string> {
  const file = await openFile(path, range);
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks()) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  expect(whole.length).toBe(file.length);
  return whole.toString();
}

describe("a path", () => {
  test.each(["relative", "./x", "~/x", "", "/a\0b", `/${"x".repeat(5000)}`, `/${"y".repeat(300)}`])(
    "that no file can have is refused with what to do: %j",
    async (path) => {
      const fault = await faultOf(openFile(path));
      expect(fault.code).toBe("file/bad-path");
      expect(fault.validations?.[0]?.field).toBe("path");
    },
  );

  test("is resolved as far as it exists; the rest is kept", async () => {
    const at = await resolvePath(folder());
    mkdirSync(join(at, "real/deep"), { recursive: true });
    symlinkSync("real", join(at, "relative"));
    symlinkSync(join(at, "relative/deep"), join(at, "absolute"));
    symlinkSync("nowhere/at/all", join(at, "dangling"));
    const cases: [string, string][] = [
      ["real", "real"],
      ["relative/deep", "real/deep"],
      ["absolute/new/file", "real/deep/new/file"],
      ["absolute/..", "real"],
      ["dangling/x", "nowhere/at/all/x"],
      ["missing/../x/./y//z/", "x/y/z"],
    ];
    for (const [given, expected] of cases) expect(await resolvePath(`${at}/${given}`)).toBe(join(at, expected));
    expect(await resolvePath("/")).toBe("/");
    expect(await resolvePath("/..")).toBe("/");
  });

  test("goes through 40 links, not 41, and not round in circles", async () => {
    const at = await resolvePath(folder());
    writeFileSync(join(at, "l0"), "x");
    for (let i = 1; i <= 41; i++) symlinkSync(`l${i - 1}`, join(at, `l${i}`));
    expect(await resolvePath(join(at, "l40"))).toBe(join(at, "l0"));
    expect(await codeOf(resolvePath(join(at, "l41")))).toBe("file/bad-path");
    symlinkSync("round", join(at, "round"));
    expect(await codeOf(resolvePath(join(at, "round")))).toBe("file/bad-path");
    expect(await codeOf(openFile(join(at, "round")))).toBe("file/bad-path");
  });

  test("through a file is no directory, and through a closed directory forbidden", async () => {
    const at = folder();
    writeFileSync(join(at, "file"), "x");
    expect(await codeOf(resolvePath(join(at, "file/x")))).toBe("file/not-a-directory");
    mkdirSync(join(at, "closed"), { mode: 0o700 });
    chmodSync(at, 0o755);
    if (process.geteuid?.() !== 0) chmodSync(join(at, "closed"), 0);
    expect(await withoutRights(() => codeOf(resolvePath(join(at, "closed/x"))))).toBe("file/forbidden");
  });
});

describe("reading a file", () => {
  test("gives its bytes, or a range, with size and type", async () => {
    const path = join(folder(), "a.JSON");
    writeFileSync(path, "0123456789");
    expect(await contentOf(path)).toBe("0123456789");
    expect(await contentOf(path, { offset: 3 })).toBe("3456789");
    expect(await contentOf(path, { offset: 3, limit: 2 })).toBe("34");
    expect(await contentOf(path, { offset: 8, limit: 100 })).toBe("89");
    expect(await contentOf(path, { offset: 99 })).toBe("");
    expect(await contentOf(path, { limit: 0 })).toBe("0123456789");
    const file = await openFile(path, { limit: 1 });
    expect(file).toMatchObject({ size: 10, length: 1, type: "application/json" });
    await file.close();
  });

  test("gives what /proc has, though it says that it is empty", async () => {
    expect(await contentOf("/proc/self/stat", { limit: 3 })).toMatch(/^\d+/);
  });

  test("fails for what is missing, forbidden or a directory", async () => {
    const at = folder();
    expect(await codeOf(openFile(join(at, "none")))).toBe("file/not-found");
    expect(await codeOf(openFile(at))).toBe("file/not-a-file");
    chmodSync(at, 0o755);
    writeFileSync(join(at, "secret"), "x", { mode: 0 });
    expect(await withoutRights(() => codeOf(openFile(join(at, "secret"))))).toBe("file/forbidden");
  });

  test("never waits for a pipe, a socket or a device", async () => {
    const at = folder();
    execFileSync("mkfifo", [join(at, "pipe")]);
    symlinkSync("pipe", join(at, "link"));
    const server = createServer().listen(join(at, "socket"));
    await new Promise((done) => server.once("listening", done));
    for (const path of ["pipe", "link", "socket"].map((name) => join(at, name)).concat("/dev/zero", "/dev/tty")) {
      expect(await codeOf(openFile(path)), path).toBe("file/not-a-file");
      expect(await readLines({ path }), path).toMatchObject({ success: false });
    }
    await new Promise((done) => server.close(done));
  });

  test("gives as many bytes as it said when the file grows, and fails when it shrinks", async () => {
    const path = join(folder(), "log");
    writeFileSync(path, "x".repeat(600_000));
    const growing = await openFile(path);
    appendFileSync(path, "more");
    let bytes = 0;
    for await (const chunk of growing.chunks()) bytes += chunk.length;
    expect(bytes).toBe(600_000);
    const shrinking = await openFile(path);
    const chunks = shrinking.chunks();
    await chunks.next();
    truncateSync(path, 10);
    expect(await codeOf(chunks.next())).toBe("file/changed");
  });
});

describe("reading lines", () => {
  test("numbers them and counts no line behind the last line feed", async () => {
    const path = join(folder(), "f");
    writeFileSync(path, "one\ntwo\nthree\n");
    const size = { file_size: 14, total_lines: 3 };
    const content = "1\tone\n2\ttwo\n3\tthree";
    expect(await readLines({ path })).toEqual({ success: true, ...size, lines_read: 3, content });
    expect(await readLines({ path, offset: 2, limit: 1 })).toEqual({
      success: true,
      ...size,
      lines_read: 1,
      content: "2\ttwo",
    });
    expect(await readLines({ path, offset: 4 })).toEqual({
      success: false,
      ...size,
      lines_read: 0,
      content: "",
      error: "Line 4 is behind the end: the file has 3 lines.",
    });
    writeFileSync(path, "");
    expect(await readLines({ path })).toEqual({
      success: true,
      file_size: 0,
      total_lines: 0,
      lines_read: 0,
      content: "",
    });
  });

  test("over a budget is an error that names the call which fits", async () => {
    const path = join(folder(), "f");
    writeFileSync(path, "x\n".repeat(2001));
    const many = await readLines({ path });
    expect(many).toMatchObject({ success: false, total_lines: 2001, lines_read: 0, content: "" });
    expect(many.error).toContain("offset=1 and limit=2000, then go on from 2001");
    expect(await readLines({ path, limit: 2000 })).toMatchObject({ success: true, lines_read: 2000 });
    writeFileSync(path, `${"y".repeat(1000)}\n`.repeat(100));
    const wide = await readLines({ path });
    const limit = Number(/limit=(\d+)/.exec(wide.error ?? "")?.[1]);
    expect(await readLines({ path, limit })).toMatchObject({ success: true, lines_read: limit });
    expect(await readLines({ path, limit: limit + 1 })).toMatchObject({ success: false });
    expect(await readLines({ path, max_response_bytes: 10 })).toMatchObject({
      error: expect.stringContaining("Not even line 1"),
    });
  });

  test("of a file that is too large, missing or named wrongly is an answer too", async () => {
    const path = join(folder(), "f");
    writeFileSync(path, "x".repeat((1 << 20) + 1));
    expect(await readLines({ path })).toMatchObject({ success: false, file_size: (1 << 20) + 1, total_lines: 0 });
    const raised = await readLines({ path, max_file_size: 2 << 20 });
    expect(raised).toMatchObject({ success: true, total_lines: 1, content: `1\t${"x".repeat(1024)} ... [truncated]` });
    expect(await readLines({ path: `${path}.none` })).toMatchObject({ error: `${path}.none does not exist.` });
    expect(await readLines({ path: "f" })).toMatchObject({ error: expect.stringContaining("relative") });
  });
});

describe("listing a directory", () => {
  test("shows directories first, then names in order, links by what they lead to", async () => {
    const at = folder();
    for (const name of ["b-dir", "Z-dir"]) mkdirSync(join(at, name));
    for (const name of ["b", "a", "ä", "B", ".hidden", "line\nfeed"]) writeFileSync(join(at, name), "");
    symlinkSync("b-dir", join(at, "to-dir"));
    symlinkSync("nowhere", join(at, "to-nothing"));
    const answer = await listDirectory({ path: at });
    expect(answer.absolute_path_string).toBe(at);
    expect(answer.absolute_path).toEqual(at.split("/").slice(1));
    const names = ["Z-dir", "b-dir", "to-dir", ".hidden", "B", "a", "b", "line\nfeed", "to-nothing", "ä"];
    expect(answer.contents).toEqual(
      names.map((name) => ({ name, absolute_path_string: join(at, name), is_dir: name.endsWith("-dir") })),
    );
  });

  test("starts at the root, at home, or at one absolute path", async () => {
    const at = folder();
    expect((await listDirectory({ path: at.split("/").slice(1), relativity: "root" })).absolute_path_string).toBe(at);
    expect((await listDirectory({ path: [], relativity: "home" })).absolute_path_string).toBe(homedir());
    expect((await listDirectory({})).absolute_path_string).toBe("/");
    expect((await listDirectory({ path: `${at}//./` })).absolute_path_string).toBe(at);
    expect(await codeOf(listDirectory({ path: "here" }))).toBe("file/bad-path");
    expect(await codeOf(listDirectory({ path: ["a\0b"] }))).toBe("file/bad-path");
  });

  test("fails for what is missing, forbidden or a file", async () => {
    const at = folder();
    writeFileSync(join(at, "file"), "");
    expect(await codeOf(listDirectory({ path: join(at, "none") }))).toBe("file/not-found");
    expect(await codeOf(listDirectory({ path: join(at, "file") }))).toBe("file/not-a-directory");
    chmodSync(at, 0o700);
    if (process.geteuid?.() !== 0) chmodSync(at, 0);
    expect(await withoutRights(() => codeOf(listDirectory({ path: at })))).toBe("file/forbidden");
    chmodSync(at, 0o700);
  });
});
