import { ignore } from "../base/index.ts";
import type { GitFile } from "../contract/index.ts";
import { type DiffBudget, jsonBytes } from "./diff-budget.ts";
import type { StatusEntry } from "./parse-status.ts";
import { type NewFile, readNewFile } from "./untracked.ts";

/** Bytes of untracked files read in one scan; the files behind are named without counts. */
const READ_BYTES = 128 << 20;

interface Known extends NewFile {
  stamp: string;
  /** What `text` takes in a frame; known although the text itself may not be kept. */
  bytes?: number;
}

interface Found {
  readonly stamps: ReadonlyMap<StatusEntry, { stamp: string; mode: number }>;
  readonly hash: "sha1" | "sha256";
}

/** Untracked files of one repository; one that has the stamp of the last scan is not read again. */
export class NewFiles {
  #known = new Map<string, Known>();

  async read(
    root: string,
    entries: readonly StatusEntry[],
    found: Found,
    budget: DiffBudget,
  ): Promise<Map<StatusEntry, Pick<GitFile, "additions" | "binary">>> {
    const kept = new Map<string, Known>();
    const answer = new Map<StatusEntry, Pick<GitFile, "additions" | "binary">>();
    let room = READ_BYTES;
    for (const entry of entries) {
      const place = entry.status === "untracked" ? found.stamps.get(entry) : undefined;
      if (!place) continue;
      const key = entry.path.toString("latin1");
      let file = this.#known.get(key);
      const isKnown =
        file?.stamp === place.stamp && (file.text !== undefined || (file.bytes ?? Infinity) > budget.room);
      if (!isKnown && room > 0) {
        file = await readOne(root, entry, place, found.hash);
        room -= file.size;
      } else if (!isKnown) file = undefined;
      if (!file) continue;
      answer.set(entry, file);
      kept.set(key, offer(entry.path.toString(), file, budget));
    }
    this.#known = kept;
    return answer;
  }
}

/** The text is remembered only as long as it is shown: memory stays within the bound of the diff. */
function offer(name: string, file: Known, budget: DiffBudget): Known {
  const { text, ...rest } = file;
  if (text !== undefined && budget.take(name, text, file.bytes)) return file;
  if (text === undefined && file.size > 0) budget.omit(name);
  return rest;
}

async function readOne(
  root: string,
  { path }: StatusEntry,
  { stamp, mode }: { stamp: string; mode: number },
  hash: "sha1" | "sha256",
): Promise<Known> {
  try {
    const file = await readNewFile(Buffer.concat([Buffer.from(`${root}/`), path]), path.toString(), { mode, hash });
    return { stamp, ...file, ...(file.text !== undefined && { bytes: jsonBytes(file.text) }) };
  } catch (error) {
    ignore(error, "it is gone or not ours to read; the next scan looks again");
    return { stamp: "", size: 0 };
  }
}
