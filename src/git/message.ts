import type { Snapshot } from "./repository.ts";

/** Clients of the original read no longer frame. */
export const FRAME_BYTES = 4 << 20;

/** One frame in pieces; the large ones are shared by everybody who is told. */
export interface GitMessage {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  /** Number of the newest scan in it. */
  readonly scan: number;
}

const COMMA = Buffer.from(",");
const END = Buffer.from("]}");

/** As many messages as it takes to keep each below the bound of a frame; one without repositories when nothing changed. */
export function composeMessages(scannedAtMs: number, changed: readonly Snapshot[], scan: number): GitMessage[] {
  const at = JSON.stringify(new Date(scannedAtMs).toISOString());
  if (changed.length === 0) return [toMessage([Buffer.from(`{"type":"changes","scanned_at":${at}}`)], scan)];
  const start = Buffer.from(`{"type":"changes","scanned_at":${at},"repositories":[`);
  const groups: Snapshot[][] = [];
  let room = 0;
  for (const snapshot of changed) {
    const bytes = snapshot.json.length + COMMA.length;
    if (bytes > room) {
      groups.push([]);
      room = FRAME_BYTES - start.length - END.length - 1;
    }
    room -= bytes;
    groups.at(-1)?.push(snapshot);
  }
  return groups.map((group) => {
    const entries = group.flatMap((snapshot, i) => (i === 0 ? [snapshot.json] : [COMMA, snapshot.json]));
    return toMessage([start, ...entries, END], Math.max(...group.map((snapshot) => snapshot.scan)));
  });
}

function toMessage(pieces: Buffer[], scan: number): GitMessage {
  return { pieces, scan, bytes: pieces.reduce((sum, piece) => sum + piece.length, 0) };
}
