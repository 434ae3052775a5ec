import { lastBorder } from "../base/index.ts";
import type { LogFile, Range } from "../native/index.ts";
import { readPieces } from "./output-host.ts";

/** Log looked through at a time, and at most for one page: stderr may be a line in gigabytes. */
const STEP_BYTES = 256 << 10;
const SCAN_BYTES = 16 << 20;

export interface StreamRange {
  from: number;
  to: number;
  stream: "stdout" | "stderr";
  limit: number;
}

/** The bytes of one stream within a range, up to `limit` of them. `next` is where the other pages begin. */
export function readStream(
  log: LogFile,
  range: StreamRange,
): { from: number; to: number; next: number; dropped: Range[]; data: Buffer } {
  const parts: Buffer[] = [];
  const stop = Math.min(range.to, range.from + SCAN_BYTES);
  let size = 0;
  let at = range.from;
  while (at < stop && size < range.limit) {
    const upTo = Math.min(stop, at + STEP_BYTES);
    const step = readStep(log, at, upTo, { stream: range.stream, room: range.limit - size });
    parts.push(...step.parts);
    size += step.size;
    at = step.to;
  }
  const data = Buffer.concat(parts);
  const held = at < range.to ? heldBack(data, parts.at(-1)) : 0;
  const to = at - held;
  return {
    from: range.from,
    to,
    next: to,
    dropped: log.dropped().filter(([a, b]) => a < at && b > range.from),
    data: data.subarray(0, data.length - held),
  };
}

function readStep(
  log: LogFile,
  from: number,
  to: number,
  o: { stream: string; room: number },
): { parts: Buffer[]; size: number; to: number } {
  const parts: Buffer[] = [];
  let size = 0;
  for (const part of log.streamsOf(from, to)) {
    if (part.stream !== o.stream) continue;
    for (const piece of readPieces(log, part.from, part.to)) {
      const data = piece.data.subarray(0, o.room - size);
      parts.push(data);
      size += data.length;
      // The page is full: it ends right behind this byte, whatever the step still holds.
      if (size >= o.room) return { parts, size, to: piece.from + data.length };
    }
  }
  return { parts, size, to };
}

/** Bytes of a character that the limit split; they can be read again only where they lie together. */
function heldBack(data: Buffer, last: Buffer | undefined): number {
  const held = data.length - lastBorder(data);
  return last && held < data.length && held <= last.length ? held : 0;
}
