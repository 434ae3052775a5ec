import type { EndReason, ProcessId } from "../contract/index.ts";
import { readU64 } from "./number64.ts";
import { HINT_BYTES, HINT_MAGIC } from "./protocol.ts";
import { toReason, toWarnings } from "./words.ts";

/** A shim says that something changed. It may be lost or repeated; the state file is the truth. */
export interface Hint {
  kind: "started" | "exited" | "ended" | "warning";
  id: ProcessId;
  warnings: string[];
  pid: number;
  code: number;
  signal: number;
  reason?: EndReason;
  /** `started`: why it did not start; 0 when it runs. */
  errno: number;
  stage: number;
  /** The command's start time. */
  start: number;
  logEnd: number;
  atMs: number;
  children: number;
  shimPid: number;
}

const kinds: readonly (Hint["kind"] | undefined)[] = [undefined, "started", "exited", "ended", "warning"];
const magic = Buffer.alloc(4);
magic.writeUInt32LE(HINT_MAGIC);

/** Joins what the FIFO gives into records; bytes that are no record are skipped up to the next magic. */
export class HintParser {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Hint[] {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const hints: Hint[] = [];
    while (bytes.length >= HINT_BYTES) {
      const hint = bytes.readUInt32LE(0) === HINT_MAGIC ? parseHint(bytes) : undefined;
      if (hint) hints.push(hint);
      bytes = bytes.subarray(hint ? HINT_BYTES : skipTo(bytes));
    }
    this.#rest = bytes;
    return hints;
  }
}

/** Where the next record may begin; the last three bytes may be the start of a magic. */
function skipTo(bytes: Buffer): number {
  const next = bytes.indexOf(magic, 1);
  return next < 0 ? bytes.length - (magic.length - 1) : next;
}

/** Undefined when it is no record of a kind that is known here. */
function parseHint(b: Buffer): Hint | undefined {
  const kind = kinds[b.readUInt16LE(4)];
  if (!kind) return undefined;
  const hex = b.toString("hex", 8, 24);
  const code = b.readInt32LE(28);
  const signal = b.readUInt32LE(32);
  const reason = toReason(b.readUInt32LE(36));
  const isStart = kind === "started";
  try {
    return {
      kind,
      id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as ProcessId,
      warnings: toWarnings(b.readUInt16LE(6)),
      pid: b.readUInt32LE(24),
      code: isStart ? 0 : code,
      signal: isStart ? 0 : signal,
      ...(reason && { reason }),
      errno: isStart ? code : 0,
      stage: isStart ? signal : 0,
      start: readU64(b, 40),
      logEnd: readU64(b, 48),
      atMs: readU64(b, 56),
      children: b.readUInt32LE(64),
      shimPid: b.readUInt32LE(68),
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
