import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { editFiles, writeFile, writeText } from "../../../src/files/index.ts";
import { smallDisk } from "../native/small-disk.ts";
import { codeOf, faultOf, folder, isRoot, namesBelow, withoutRights } from "./folder.ts";

const modeOf = (path: string) => statSync(path).mode & 0o7777;

describe("writing a file", () => {
  test("makes it and its directories with the usual modes", async () => {
    const at = folder();
    const path = join(at, "a/b/c.txt");
    expect(await writeText(path, "hälló")).toEqual({ target: path, bytes: 7, created: true });
    expect(readFileSync(path, "utf8")).toBe("hälló");
    expect([modeOf(join(at, "a")), modeOf(join(at, "a/b")), modeOf(path)]).toEqual(
      [0o755, 0o755, 0o666 & ~process.umask()].map((mode) => mode & ~process.umask()),
    );
    expect(namesBelow(at)).toEqual(["a", "a/b", "a/b/c.txt"]);
  });

  test("keeps the mode of the one it replaces, whatever the umask", async () => {
    const path = join(folder(), "script");
    for (const mode of [0o755, 0o600, 0o666, 0o4755, 0o2750]) {
      writeFileSync(path, "old");
      chmodSync(path, mode);
      expect(await writeText(path, "new")).toMatchObject({ created: false });
      expect(modeOf(path).toString(8)).toBe(mode.toString(8));
    }
  });

  test.runIf(isRoot)("keeps the owner when it may", async () => {
    const path = join(folder(), "theirs");
    writeFileSync(path, "old", { mode: 0o640 });
    chownSync(path, 1234, 4321);
    expect((await writeText(path, "new")).note).toBeUndefined();
    expect(statSync(path)).toMatchObject({ uid: 1234, gid: 4321 });
    expect(modeOf(path)).toBe(0o640);
  });

  test.runIf(isRoot)("says so when it may not keep the owner, and gives no set-user-ID away", async () => {
    const at = folder();
    chmodSync(at, 0o777);
    const path = join(at, "shared");
    writeFileSync(path, "old");
    chmodSync(path, 0o4666);
    const written = await withoutRights(() => writeText(path, "new"));
    expect(written.note).toContain("belonged to user 0");
    expect(statSync(path).uid).toBe(65_534);
    expect(modeOf(path)).toBe(0o666);
  });

  test("follows links, also to what does not exist yet, and leaves them links", async () => {
    const at = folder();
    mkdirSync(join(at, "real"));
    writeFileSync(join(at, "real/file"), "old");
    symlinkSync("real/file", join(at, "link"));
    symlinkSync("real/new/file", join(at, "dangling"));
    await writeText(join(at, "link"), "new");
    await writeText(join(at, "dangling"), "made");
    expect(lstatSync(join(at, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(at, "real/file"), "utf8")).toBe("new");
    expect(readFileSync(join(at, "real/new/file"), "utf8")).toBe("made");
  });

  test("refuses directories, pipes, devices and names below a file", async () => {
    const at = folder();
    writeFileSync(join(at, "file"), "");
    execFileSync("mkfifo", [join(at, "pipe")]);
    const before = namesBelow(at);
    expect(await codeOf(writeText(at, "x"))).toBe("file/not-a-file");
    expect(await codeOf(writeText(join(at, "dir/"), "x"))).toBe("file/not-a-file");
    expect(await codeOf(writeText(join(at, "pipe"), "x"))).toBe("file/not-a-file");
    expect(await codeOf(writeText("/dev/null", "x"))).toBe("file/not-a-file");
    expect(await codeOf(writeText(join(at, "file/x"), "x"))).toBe("file/not-a-directory");
    expect(await codeOf(writeText("here", "x"))).toBe("file/bad-path");
    expect(await codeOf(writeText(join(at, "n".repeat(256)), "x"))).toBe("file/bad-path");
    expect(namesBelow(at)).toEqual(before);
  });

  test("takes the longest name that there can be", async () => {
    const path = join(folder(), "n".repeat(255));
    await writeText(path, "x");
    expect(readFileSync(path, "utf8")).toBe("x");
  });

  test("replaces a program that runs", async () => {
    const path = join(folder(), "sleep");
    copyFileSync("/bin/sleep", path);
    const child = spawn(path, ["60"]);
    await once(child, "spawn");
    await writeText(path, "new");
    child.kill();
    await once(child, "exit");
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  test("leaves alone what may not be written, though its directory may", async () => {
    const at = folder();
    chmodSync(at, 0o777);
    writeFileSync(join(at, "readonly"), "old", { mode: 0o444 });
    expect(await withoutRights(() => codeOf(writeText(join(at, "readonly"), "new")))).toBe("file/forbidden");
    expect(readFileSync(join(at, "readonly"), "utf8")).toBe("old");
  });

  test("that breaks off leaves the old file, and neither a part nor a directory", async () => {
    const at = folder();
    writeFileSync(join(at, "file"), "old");
    async function* broken() {
      yield Buffer.from("half");
      throw new Error("the line went dead");
    }
    await expect(writeFile(join(at, "file"), broken())).rejects.toThrow("the line went dead");
    await expect(writeFile(join(at, "new/deep/file"), broken())).rejects.toThrow("the line went dead");
    expect(readFileSync(join(at, "file"), "utf8")).toBe("old");
    expect(namesBelow(at)).toEqual(["file"]);
  });

  test("by many at once leaves one of their texts whole", async () => {
    const path = join(folder(), "file");
    const texts = Array.from({ length: 40 }, (_, i) => String.fromCharCode(65 + i).repeat(300_000 + i));
    async function* slowly(text: string) {
      for (let at = 0; at < text.length; at += 50_000) {
        yield Buffer.from(text.slice(at, at + 50_000));
        await new Promise(setImmediate);
      }
    }
    const seen = new Set<string>();
    const writes = Promise.all(texts.map((text) => writeFile(path, slowly(text)))).then(() => "done" as const);
    const tick = () => new Promise<"tick">((resolve) => setImmediate(() => resolve("tick")));
    for (;;) {
      if ((await Promise.race([writes, tick()])) === "done") break;
      try {
        seen.add(readFileSync(path, "utf8"));
      } catch {
        // Not made yet.
      }
    }
    seen.add(readFileSync(path, "utf8"));
    for (const text of seen) expect(texts.includes(text)).toBe(true);
    expect(namesBelow(join(path, ".."))).toEqual(["file"]);
  });

  test("on a full disk fails clearly and leaves everything as it was", async (context) => {
    const disk = smallDisk(folder(), "256k");
    if (!disk) return context.skip("a tmpfs cannot be mounted here; run as root");
    try {
      const path = join(disk.path, "file");
      writeFileSync(path, "old");
      const fault = await faultOf(writeText(path, "x".repeat(1 << 20)));
      expect(fault.code).toBe("file/disk-full");
      expect(fault.message).toContain("nothing was changed");
      expect(readFileSync(path, "utf8")).toBe("old");
      const other = join(disk.path, "other");
      writeFileSync(other, "y");
      const edits = [{ search: "old", replace: "z".repeat(150_000) }];
      const both = [
        { path, edits },
        { path: other, edits: [{ search: "y", replace: "w".repeat(150_000) }] },
      ];
      expect(await codeOf(editFiles({ files: both }))).toBe("file/disk-full");
      expect(namesBelow(disk.path)).toEqual(["file", "other"]);
      expect([readFileSync(path, "utf8"), readFileSync(other, "utf8")]).toEqual(["old", "y"]);
    } finally {
      disk.remove();
    }
  });
});

describe("editing files", () => {
  const edit = (search: string, replace: string) => ({ search, replace });

  test("changes all of them, tells how, and shows what", async () => {
    const at = folder();
    writeFileSync(join(at, "a"), "one\ntwo\n", { mode: 0o755 });
    writeFileSync(join(at, "b"), "  x  \n");
    const edited = await editFiles({
      files: [
        { path: join(at, "a"), edits: [edit("one", "1"), edit("two", "2")] },
        { path: join(at, "b"), edits: [edit("x\n", "y\n")] },
      ],
      diff: true,
    });
    expect(edited[0]).toEqual({
      path: join(at, "a"),
      replaced: 2,
      loose: [],
      diff: `--- ${at}/a\n+++ ${at}/a\n@@ -1,2 +1,2 @@\n-one\n-two\n+1\n+2\n`,
    });
    expect(edited[1]).toMatchObject({ replaced: 1, loose: [1] });
    expect([readFileSync(join(at, "a"), "utf8"), readFileSync(join(at, "b"), "utf8")]).toEqual(["1\n2\n", "  y\n"]);
    expect(modeOf(join(at, "a"))).toBe(0o755);
    expect(namesBelow(at)).toEqual(["a", "b"]);
  });

  test("makes a diff that git applies", async () => {
    const at = folder();
    const path = join(at, "f");
    const before = Array.from({ length: 60 }, (_, i) => `line ${i} ü`).join("\n");
    writeFileSync(path, before);
    const edits = [edit("line 3 ü\n", ""), edit("line 30", "new\nline thirty"), edit("line 59 ü", "end")];
    const [edited] = await editFiles({ files: [{ path, edits }], diff: true });
    const after = readFileSync(path, "utf8");
    writeFileSync(path, before);
    const patch = (edited?.diff ?? "").replaceAll(path, "f");
    execFileSync("git", ["apply", "-p0", "-"], { cwd: at, input: patch });
    expect(readFileSync(path, "utf8")).toBe(after);
  });

  test("changes none when one edit does not fit", async () => {
    const at = folder();
    writeFileSync(join(at, "a"), "one\n");
    writeFileSync(join(at, "b"), "two\n");
    const files = [
      { path: join(at, "a"), edits: [edit("one", "1")] },
      { path: join(at, "b"), edits: [edit("three", "3")] },
    ];
    expect(await faultOf(editFiles({ files }))).toMatchObject({ code: "file/no-match", data: { edit: 1 } });
    expect(readFileSync(join(at, "a"), "utf8")).toBe("one\n");
    expect(namesBelow(at)).toEqual(["a", "b"]);
  });

  test("takes the same path twice as one file, and refuses it by another name", async () => {
    const at = folder();
    writeFileSync(join(at, "a"), "1\n");
    symlinkSync("a", join(at, "link"));
    const file = (name: string, search: string, replace: string) => ({
      path: `${at}/${name}`,
      edits: [edit(search, replace)],
    });
    const [edited, ...rest] = await editFiles({ files: [file("a", "1", "2"), file("/./a", "2", "3")] });
    expect([edited?.replaced, rest]).toEqual([2, []]);
    linkSync(join(at, "a"), join(at, "hard"));
    for (const name of ["link", "hard"]) {
      expect(await codeOf(editFiles({ files: [file("a", "3", "4"), file(name, "4", "5")] }))).toBe("file/same-file");
    }
  });

  test("keeps every byte that is no UTF-8", async () => {
    const path = join(folder(), "latin1");
    writeFileSync(path, Buffer.from("caf\xe9 \xa0\nna\xefve\n\0\xff", "latin1"));
    await editFiles({ files: [{ path, edits: [edit("caf", "ü")] }] });
    expect(readFileSync(path)).toEqual(
      Buffer.concat([Buffer.from("ü"), Buffer.from("\xe9 \xa0\nna\xefve\n\0\xff", "latin1")]),
    );
  });

  test("by many at once loses no edit", async () => {
    const path = join(folder(), "shared");
    const names = Array.from({ length: 12 }, (_, i) => `item-${i};`);
    writeFileSync(path, names.join("\n"));
    const codes = await Promise.all(
      names.map(async (name) => {
        for (;;) {
          try {
            await editFiles({ files: [{ path, edits: [edit(name, `${name.slice(0, -1)} done;`)] }] });
            return "done";
          } catch (error) {
            if ((error as { code?: string }).code !== "file/changed") throw error;
          }
        }
      }),
    );
    expect(codes.every((code) => code === "done")).toBe(true);
    expect(readFileSync(path, "utf8").match(/ done;/g)?.length).toBe(12);
  });

  test("refuses what is too large, missing, or no file", async () => {
    const at = folder();
    writeFileSync(join(at, "large"), Buffer.alloc((16 << 20) + 1));
    const one = (name: string) => editFiles({ files: [{ path: join(at, name), edits: [edit("a", "b")] }] });
    expect(await codeOf(one("large"))).toBe("file/too-large");
    expect(await codeOf(one("none"))).toBe("file/not-found");
    expect(await codeOf(one("."))).toBe("file/not-a-file");
    expect(await codeOf(editFiles({ files: [] }))).toBe("request/invalid");
    const edits = Array.from({ length: 1001 }, () => edit("a", "b"));
    expect(await codeOf(editFiles({ files: [{ path: join(at, "large"), edits }] }))).toBe("request/invalid");
  });
});
