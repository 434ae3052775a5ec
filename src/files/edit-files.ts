import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { Fault, type FileEdit } from "../contract/index.ts";
import { checkPath, tidyPath } from "./checked-path.ts";
import { editText } from "./edit-text.ts";
import { withFaults } from "./file-faults.ts";
import { openRegular } from "./open-file.ts";
import { commit, discard, type Staged, stage } from "./replace-file.ts";
import { resolvePath } from "./resolve-path.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** A larger file is data, and a job for a command; several copies of it are in memory here. */
const FILE_BYTES = 16 << 20;
/** All files of one request are in memory together. */
const REQUEST_BYTES = 64 << 20;
const EDITS = 1_000;
/** Each is open until all are replaced. */
const FILES = 200;
/** Others that write the same file all the time win after this many attempts. */
const ATTEMPTS = 5;

export interface EditRequest {
  readonly files: readonly { readonly path: string; readonly edits: readonly FileEdit[] }[];
  readonly diff?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EditedFile {
  /** As it was given. */
  readonly path: string;
  /** Places replaced, by all edits. */
  readonly replaced: number;
  /** Of the edits that matched only when white space was ignored: their numbers, from 1. */
  readonly loose: readonly number[];
  readonly diff?: string;
}

/** Edits files: all of them, or none. A file that somebody else changes meanwhile is read and edited anew. */
export async function editFiles(request: EditRequest): Promise<EditedFile[]> {
  const plans = mergePlans(request);
  for (let attempt = 1; ; attempt++) {
    try {
      return await editOnce(plans, request);
    } catch (error) {
      const isRace = error instanceof Fault && error.code === "file/changed";
      if (!isRace || attempt === ATTEMPTS || error.data?.["written"]) throw error;
    }
  }
}

interface Plan {
  readonly path: string;
  readonly edits: FileEdit[];
}

/** One entry a path; its edits in the order given. */
function mergePlans({ files }: EditRequest): Plan[] {
  const plans = new Map<string, Plan>();
  let edits = 0;
  for (const file of files) {
    const key = tidyPath(checkPath(file.path));
    const plan = plans.get(key) ?? { path: file.path, edits: [] };
    plan.edits.push(...file.edits);
    plans.set(key, plan);
    edits += file.edits.length;
  }
  if (edits === 0) throw new Fault("request/invalid", "There is nothing to edit: give files with edits.");
  if (edits > EDITS || plans.size > FILES) {
    const most = `at most ${EDITS} edits of ${FILES} files`;
    throw new Fault("request/invalid", `${edits} edits of ${plans.size} files are too many for one request: ${most}.`);
  }
  return [...plans.values()];
}

interface Source {
  readonly path: string;
  /** One unit a byte, so that bytes which are no UTF-8 survive. */
  readonly text: string;
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

interface Result {
  readonly source: Source;
  readonly text: string;
  readonly edited: EditedFile;
}

async function editOnce(plans: readonly Plan[], request: EditRequest): Promise<EditedFile[]> {
  const sources: Source[] = [];
  try {
    for (const { path } of plans) sources.push(await readSource(path, sources));
    const results: Result[] = [];
    for (const [i, source] of sources.entries()) results.push(await edit(source, plans[i]?.edits ?? [], request));
    await replaceAll(
      results.filter(({ source, text }) => text !== source.text),
      request.signal,
    );
    return results.map(({ edited }) => edited);
  } finally {
    // Open until now: while it is, no new file can be taken for the one that was read.
    for (const { handle } of sources) await handle.close();
  }
}

async function readSource(path: string, others: readonly Source[]): Promise<Source> {
  const { handle } = await openRegular(path);
  try {
    return await withFaults(path, "read", async () => {
      const stats = await handle.stat({ bigint: true });
      const twin = others.find((other) => other.stats.ino === stats.ino && other.stats.dev === stats.dev);
      if (twin) {
        const target = await resolvePath(path);
        throw new Fault("file/same-file", `${twin.path} and ${path} are one file (${target}). Name it once.`);
      }
      const size = Number(stats.size);
      const together = others.reduce((sum, { text }) => sum + text.length, size);
      if (size > FILE_BYTES) throw tooLarge(`${path} has ${size} bytes; at most ${FILE_BYTES} are edited`);
      if (together > REQUEST_BYTES) throw tooLarge(`The files have more than ${REQUEST_BYTES} bytes together`);
      return { path, handle, stats, text: (await handle.readFile()).toString("latin1") };
    });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function edit(source: Source, edits: readonly FileEdit[], { diff, signal }: EditRequest): Promise<Result> {
  const { path } = source;
  const { text, ...counts } = await applyAll(source, edits, signal);
  const shown = diff ? { diff: fromBytes(unifiedDiff(toBytes(path), source.text, text)) } : {};
  return { source, text, edited: { path, ...counts, ...shown } };
}

/** Every result is on the disk before the first takes its place. */
async function replaceAll(results: readonly Result[], signal: AbortSignal | undefined): Promise<void> {
  const staged: Staged[] = [];
  const read = new Map<Staged, BigIntStats>();
  try {
    for (const { source, text } of results) {
      const file = await stage(source.path, [Buffer.from(text, "latin1")], FILE_BYTES);
      staged.push(file);
      read.set(file, source.stats);
    }
    signal?.throwIfAborted();
  } catch (error) {
    await Promise.all(staged.map(discard));
    throw error;
  }
  await commit(staged, read);
}

async function applyAll(
  { path, text }: Source,
  edits: readonly FileEdit[],
  signal: AbortSignal | undefined,
): Promise<{ text: string; replaced: number; loose: number[] }> {
  let now = text;
  let replaced = 0;
  const loose: number[] = [];
  for (const [i, { search, replace = "", replace_all: replaceAll = false }] of edits.entries()) {
    // Each edit of a large file takes its time; others get theirs in between.
    await setImmediate();
    signal?.throwIfAborted();
    const edit = { search: toBytes(search), replace: toBytes(replace), replaceAll };
    const edited = editText(now, edit, { path, number: i + 1, maxLength: FILE_BYTES });
    now = edited.text;
    replaced += edited.count;
    if (edited.likeness !== "exact") loose.push(i + 1);
  }
  return { text: now, replaced, loose };
}

function tooLarge(what: string): Fault {
  return new Fault("file/too-large", `${what}. Use a command, or edit fewer at once.`);
}

function toBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function fromBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
