import type { FileHandle } from "node:fs/promises";
import { Fault } from "../contract/index.ts";
import { withFaults } from "./file-faults.ts";
import { mediaType } from "./media-type.ts";
import { openRegular } from "./open-file.ts";

/** Large enough that system calls do not count, small enough that a thousand readers do not either. */
const CHUNK_BYTES = 256 << 10;
/** Files of /proc and /sys say that they are empty; this much of one is read at once. */
const UNSIZED_BYTES = 1 << 20;

export interface FileRange {
  readonly offset?: number | undefined;
  /** 0 or absent: to the end. */
  readonly limit?: number | undefined;
}

/** A range of a file, opened. Whoever has it reads `chunks` to the end or calls `close`. */
export interface OpenFile {
  /** Of the whole file. */
  readonly size: number;
  /** Of the range: exactly this many bytes come, or the reading fails. */
  readonly length: number;
  readonly type: string;
  /** Each chunk is read when it is asked for. */
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>>;
  close(): Promise<void>;
}

/** Opens a range of a file. What the file grows by afterwards is not part of it. */
export async function openFile(path: string, range: FileRange = {}): Promise<OpenFile> {
  const { handle, stats } = await openRegular(path);
  const close = once(() => handle.close());
  try {
    const content = stats.size === 0 ? await readUnsized(handle, path) : undefined;
    const size = content?.length ?? stats.size;
    const offset = Math.min(range.offset ?? 0, size);
    const length = Math.min(range.limit || Number.POSITIVE_INFINITY, size - offset);
    const source = { path, offset, length, read: content ? readFrom(content) : readFrom(handle) };
    return { size, length, type: mediaType(path), chunks: () => readChunks(source, close), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Read = (into: Buffer<ArrayBuffer>, at: number) => Promise<number>;

interface Source {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
  readonly read: Read;
}

async function* readChunks(
  { path, offset, length, read }: Source,
  close: () => Promise<void>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for (let done = 0; done < length; ) {
      // A buffer of its own for each chunk: the one before may still be on its way out.
      const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, length - done));
      const count = await withFaults(path, "read", () => read(chunk, offset + done));
      if (count === 0) throw new Fault("file/changed", `${path} became shorter while it was read.`);
      done += count;
      yield chunk.subarray(0, count);
    }
  } finally {
    await close();
  }
}

function readFrom(source: FileHandle | Buffer): Read {
  if (Buffer.isBuffer(source)) return async (into, at) => source.copy(into, 0, at);
  return async (into, at) => (await source.read(into, 0, into.length, at)).bytesRead;
}

async function readUnsized(handle: FileHandle, path: string): Promise<Buffer> {
  const content = Buffer.allocUnsafe(UNSIZED_BYTES);
  let size = 0;
  for (;;) {
    const { bytesRead } = await withFaults(path, "read", () => handle.read(content, size, content.length - size, size));
    size += bytesRead;
    if (bytesRead === 0 || size === content.length) return Buffer.from(content.subarray(0, size));
  }
}

function once(call: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= call());
}
