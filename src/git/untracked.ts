import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";
import { quotePath } from "./quote-path.ts";

/** A longer file is counted but not shown: it would fill the frame alone. */
export const SHOWN_BYTES = 3 << 20;
/** A longer file is not even counted. */
const COUNTED_BYTES = 32 << 20;
/** git looks for a NUL in as much (`buffer_is_binary`). */
const BINARY_LOOK_BYTES = 8_000;
const READ_BYTES = 256 << 10;

/** What a new file adds. `text` is absent when the file is too long to be shown. */
export interface NewFile {
  size: number;
  additions?: number;
  binary?: true;
  text?: string;
}

/** Which state of a file was read; another stamp means that it may hold something else. */
export type Stamp = string;

/** `undefined`: it is gone. A directory is a repository of its own, which git lists with a slash at its end. */
export async function stampOf(path: Buffer): Promise<{ stamp: Stamp; changedMs: number; mode: number } | undefined> {
  try {
    const s = await lstat(path, { bigint: true });
    const stamp = `${s.ino}:${s.size}:${s.mtimeNs}:${s.ctimeNs}:${s.mode}`;
    const changedMs = Math.max(Number(s.mtimeMs), Number(s.ctimeMs));
    return { stamp, changedMs, mode: Number(s.mode) };
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}

/** The diff of an untracked file as `git diff --no-index /dev/null FILE` writes it, without starting git for each. */
export async function readNewFile(
  path: Buffer,
  name: string,
  o: { mode: number; hash: "sha1" | "sha256" },
): Promise<NewFile> {
  const kind = o.mode & constants.S_IFMT;
  if (kind === constants.S_IFLNK) {
    const target = await readlink(path, { encoding: "buffer" });
    return describe(target, name, "120000", o.hash);
  }
  if (kind !== constants.S_IFREG) return { size: 0 };
  // No pipe can hold us up between the look and the opening.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > SHOWN_BYTES) return await countLines(file, size);
    const mode = o.mode & 0o100 ? "100755" : "100644";
    return describe(await file.readFile(), name, mode, o.hash);
  } finally {
    await file.close();
  }
}

export function describe(content: Buffer, name: string, mode: string, hash: "sha1" | "sha256"): NewFile {
  const id = createHash(hash).update(`blob ${content.length}\0`).update(content).digest("hex").slice(0, 7);
  const [from, to] = [quotePath(`a/${name}`), quotePath(`b/${name}`)];
  const header = `diff --git ${from} ${to}\nnew file mode ${mode}\nindex 0000000..${id}\n`;
  const size = content.length;
  if (size === 0) return { size, additions: 0, text: header };
  if (content.subarray(0, BINARY_LOOK_BYTES).includes(0)) {
    return { size, binary: true, text: `${header}Binary files /dev/null and ${to} differ\n` };
  }
  const text = content.toString();
  const isOpen = !text.endsWith("\n");
  const lines = (isOpen ? text : text.slice(0, -1)).split("\n");
  const count = lines.length === 1 ? "" : `,${lines.length}`;
  // git ends a name with a blank in it by a tab, for the sake of patch(1).
  const end = to === `b/${name}` && name.includes(" ") ? "\t" : "";
  const body = `--- /dev/null\n+++ ${to}${end}\n@@ -0,0 +1${count} @@\n+${lines.join("\n+")}\n`;
  return { size, additions: lines.length, text: `${header}${body}${isOpen ? "\\ No newline at end of file\n" : ""}` };
}

async function countLines(file: FileHandle, size: number): Promise<NewFile> {
  const buffer = Buffer.alloc(READ_BYTES);
  let additions = 0;
  let last = 0x0a;
  for (let at = 0; at < Math.min(size, COUNTED_BYTES); ) {
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, at);
    if (bytesRead === 0) break;
    const piece = buffer.subarray(0, bytesRead);
    if (at === 0 && piece.subarray(0, BINARY_LOOK_BYTES).includes(0)) return { size, binary: true };
    for (let i = piece.indexOf(0x0a); i !== -1; i = piece.indexOf(0x0a, i + 1)) additions++;
    last = piece[bytesRead - 1] ?? last;
    at += bytesRead;
  }
  if (size > COUNTED_BYTES) return { size };
  return { size, additions: last === 0x0a ? additions : additions + 1 };
}
