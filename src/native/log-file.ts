import { closeSync, fstatSync, readSync } from "node:fs";
import { Fault, type ProcessId } from "../contract/index.ts";
import { LogIndex, type StreamPart } from "./log-index.ts";
import { STATE_BYTES } from "./protocol.ts";
import { firstKept, joinRanges } from "./ranges.ts";
import type { RunDirectories } from "./run-directories.ts";
import { parseHeader, parseLogEnd, parseMark, type Range, type StateHeader, type StateMark } from "./state-file.ts";

/** A ring that turns faster than it can be read ends a read with no bytes; the caller sees where the log begins now. */
const READS = 4;

interface Layout {
  header: StateHeader;
  mark: StateMark | undefined;
  /** At least so many bytes were written. */
  told: number;
}

/** What holds at one moment. */
interface Snapshot {
  extents: Extent[];
  gaps: Range[];
  end: number;
}

/** A file that holds log bytes [from, from + size). */
interface Extent {
  fd: number;
  from: number;
  to: number;
}

/**
 * The log of one process, read from disk: one sparse file, or a head and segments `log.N` where holes cannot be punched.
 * The shim publishes what it drops before the bytes go; so whoever looks at the mark again after reading knows what was whole.
 */
export class LogFile {
  readonly #dirs: RunDirectories;
  readonly #id: ProcessId;
  readonly #stateFd: number;
  readonly #state = Buffer.allocUnsafe(STATE_BYTES);
  readonly #segments = new Map<number, number>();
  readonly #index: LogIndex;
  readonly #isFinal: boolean;
  #header: StateHeader | undefined;
  #headFd: number | undefined;
  #final: Snapshot | undefined;

  private constructor(dirs: RunDirectories, id: ProcessId, stateFd: number, isFinal: boolean) {
    this.#dirs = dirs;
    this.#id = id;
    this.#stateFd = stateFd;
    this.#isFinal = isFinal;
    this.#index = new LogIndex(() => this.#openFile("index"));
  }

  /** Undefined: no byte yet. `isFinal`: nobody writes it any more, so it is looked at once only. */
  static open(dirs: RunDirectories, id: ProcessId, isFinal = false): LogFile | undefined {
    const fd = openIfThere(dirs, id, "state");
    if (fd === undefined) return undefined;
    if (!isFinal && fstatSync(fd).size < STATE_BYTES) {
      closeSync(fd); // the shim is just writing it, and output comes after it
      return undefined;
    }
    const log = new LogFile(dirs, id, fd, isFinal);
    try {
      if (log.end() > 0) return log;
    } catch (error) {
      log.close();
      throw error;
    }
    log.close();
    return undefined;
  }

  /** Bytes ever written, dropped ones included. */
  end(): number {
    return this.#look().end;
  }

  /** What is gone: left behind by the ring, or never written because the disk was full. */
  dropped(): Range[] {
    return this.#look().gaps;
  }

  /** From the first kept byte at or behind `from`, up to `to`, the next gap, or the end. `room` may be given to be filled. */
  read(from: number, to: number, room?: Buffer): { from: number; to: number; data: Buffer } {
    let start = from;
    for (let attempt = 0; attempt < READS; attempt++) {
      const { extents, gaps, end } = this.#look();
      const kept = firstKept(start, Math.min(to, end), gaps);
      const data = readExtents(extents, kept, room);
      if (data.length === 0 || this.#isFinal) return { from: kept[0], to: kept[0] + data.length, data };
      const after = this.#read().mark;
      const whole = firstKept(kept[0], kept[0] + data.length, after ? joinRanges([after.dropped]) : []);
      const cut = data.subarray(whole[0] - kept[0], whole[1] - kept[0]);
      if (cut.length > 0) return { from: whole[0], to: whole[1], data: cut };
      start = whole[0];
    }
    return { from: start, to: start, data: Buffer.alloc(0) };
  }

  /** Which stream wrote what, and when; empty when the index does not know. */
  streamsOf(from: number, to: number): StreamPart[] {
    const dropped = this.#read().mark?.indexDropped;
    return this.#index.parts(from, to, dropped ?? [0, 0]);
  }

  close(): void {
    closeSync(this.#stateFd);
    if (this.#headFd !== undefined) closeSync(this.#headFd);
    for (const fd of this.#segments.values()) closeSync(fd);
    this.#headFd = undefined;
    this.#segments.clear();
    this.#index.close();
  }

  /** Segments may be unlinked while they are looked for; when a drop was published meanwhile, look again. */
  #look(): Snapshot {
    if (this.#final) return this.#final;
    for (let attempt = 1; ; attempt++) {
      const layout = this.#read();
      const extents = this.#extents(layout);
      const isSettled = layout.header.logSegment === 0 || this.#read().mark?.seq === layout.mark?.seq;
      if (!isSettled && attempt < READS) continue;
      const end = Math.max(layout.told, ...extents.map((part) => part.to));
      const snapshot = { extents, gaps: gapsOf(layout, extents), end };
      if (this.#isFinal) this.#final = snapshot;
      return snapshot;
    }
  }

  /** The header changes once at most where it matters here (the layout); a torn one is simply read again. */
  #read(): Layout {
    for (let attempt = 1; ; attempt++) {
      const whole = readSync(this.#stateFd, this.#state, 0, STATE_BYTES, 0) === STATE_BYTES;
      try {
        if (!whole) throw new Error("state file is cut");
        this.#header = parseHeader(this.#state);
      } catch (error) {
        if (attempt < READS) continue;
        if (!this.#header) throw this.#damaged(error);
      }
      if (this.#header) return { header: this.#header, mark: parseMark(this.#state), told: parseLogEnd(this.#state) };
    }
  }

  /** Without the header nobody can say which bytes of the log are whole. */
  #damaged(cause: unknown): Fault {
    const file = `${this.#dirs.path(this.#id)}/log`;
    return new Fault(
      "log/damaged",
      `The state file of process ${this.#id} is damaged; what is left of its log is in ${file}.`,
      {
        cause,
      },
    );
  }

  #extents({ header, mark, told }: Layout): Extent[] {
    this.#headFd ??= this.#openFile("log");
    const extents: Extent[] = [];
    if (this.#headFd !== undefined) extents.push({ fd: this.#headFd, from: 0, to: fstatSync(this.#headFd).size });
    if (header.logSegment === 0) return extents;
    const numberOf = (offset: number) => Math.max(0, Math.floor((offset - header.logHead) / header.logSegment));
    const first = numberOf(mark?.dropped[1] ?? 0);
    const known = numberOf(told);
    this.#closeSegmentsBefore(first);
    for (let n = first; ; n++) {
      const fd = this.#segment(n);
      if (fd === undefined && n >= known) return extents;
      const from = header.logHead + n * header.logSegment;
      if (fd !== undefined) extents.push({ fd, from, to: from + fstatSync(fd).size });
    }
  }

  #segment(number: number): number | undefined {
    const open = this.#segments.get(number) ?? this.#openFile(`log.${number}`);
    if (open !== undefined) this.#segments.set(number, open);
    return open;
  }

  #closeSegmentsBefore(first: number): void {
    for (const [number, fd] of this.#segments) {
      if (number >= first) continue;
      closeSync(fd);
      this.#segments.delete(number);
    }
  }

  #openFile(name: string): number | undefined {
    return openIfThere(this.#dirs, this.#id, name);
  }
}

/** The ring's and the lost ranges, and whatever lies before the end in no file. */
function gapsOf({ mark, told }: Layout, extents: readonly Extent[]): Range[] {
  const gaps: Range[] = mark ? [mark.dropped, ...mark.lost] : [];
  let at = 0;
  for (const { from, to } of extents) {
    gaps.push([at, from]);
    at = Math.max(at, to);
  }
  gaps.push([at, told]);
  return joinRanges(gaps);
}

function readExtents(extents: readonly Extent[], [from, to]: Range, room?: Buffer): Buffer {
  const size = to - from;
  const data = room && room.length >= size ? room.subarray(0, size) : Buffer.allocUnsafe(size);
  let at = from;
  for (const part of extents) {
    while (at >= part.from && at < Math.min(part.to, to)) {
      const got = readSync(part.fd, data, at - from, Math.min(part.to, to) - at, at - part.from);
      if (got === 0) return data.subarray(0, at - from);
      at += got;
    }
  }
  return data.subarray(0, at - from);
}

function openIfThere(dirs: RunDirectories, id: ProcessId, name: string): number | undefined {
  try {
    return dirs.openFile(id, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
