import { commit, discard, stage } from "./replace-file.ts";

/** A named bound for a runaway upload; the disk is most often smaller. */
const WRITE_BYTES = 8 * 2 ** 30;

export interface WrittenFile {
  /** The file itself, behind all links. */
  readonly target: string;
  readonly bytes: number;
  readonly created: boolean;
  /** What could not be kept. */
  readonly note?: string;
}

/** Replaces a file, or makes it and its directories. Readers see the old content or the new, and so does whoever starts after a crash. */
export async function writeFile(
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<WrittenFile> {
  const staged = await stage(path, content, WRITE_BYTES);
  if (signal?.aborted) {
    await discard(staged);
    throw signal.reason;
  }
  await commit([staged]);
  const { target, bytes, previous, note } = staged;
  return { target, bytes, created: !previous, ...(note !== undefined && { note }) };
}

/** The same for a text, as UTF-8. */
export function writeText(path: string, text: string, signal?: AbortSignal): Promise<WrittenFile> {
  return writeFile(path, [Buffer.from(text)], signal);
}
