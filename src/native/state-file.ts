import { crc32 } from "node:zlib";
import type { EndReason } from "../contract/index.ts";
import { readU64 } from "./number64.ts";
import {
  END_MAGIC,
  EXIT_MAGIC,
  LAYOUT_VERSION,
  launchFlags,
  MARK_LOST_MAX,
  MARK_MAGIC,
  SLOT_BYTES,
  STATE_BYTES,
  STATE_MAGIC,
  slots,
} from "./protocol.ts";
import { type Enforced, toEnforced, toReason, toWarnings } from "./words.ts";

/** Bytes [from, to). */
export type Range = [from: number, to: number];

/** Who runs it and how, written before the command starts. */
export interface StateHeader {
  layout: number;
  protocol: number;
  id: string;
  flags: number;
  tty: boolean;
  split: boolean;
  bootId: string;
  uid: number;
  pidNs: number;
  shimPid: number;
  shimStart: number;
  /** 0 until the command runs. */
  leaderPid: number;
  leaderStart: number;
  startedAtMs: number;
  logHead: number;
  logRing: number;
  /** 0: one sparse file. */
  logSegment: number;
  outInode: number;
  errInode: number;
  cols: number;
  rows: number;
  /** Why it did not start; 0 when it did. */
  startErrno: number;
  startStage: number;
  watched: boolean;
  enforced: Enforced;
}

/** How the command ended. */
export interface StateExit {
  reason?: EndReason;
  /** -1 when a signal ended it. */
  code: number;
  signal: number;
  exitedAtMs: number;
  logEnd: number;
  wallUs: number;
  userUs: number;
  systemUs: number;
  maxRss: number;
  readBytes: number;
  writtenBytes: number;
  children: number;
  coreDumped: boolean;
  detail: string;
}

/** No descendant is left and nobody can write any more. */
export interface StateEnd {
  reaped: number;
  endedAtMs: number;
  logEnd: number;
  userUs: number;
  systemUs: number;
}

/** What is gone from the log and its index. */
export interface StateMark {
  warnings: string[];
  seq: number;
  /** At least; the log may be longer. */
  logEnd: number;
  dropped: Range;
  indexDropped: Range;
  lost: Range[];
  cols: number;
  rows: number;
}

/** The state file of one process. A part is absent when it was not written yet. */
export interface RunState {
  header: StateHeader;
  exit?: StateExit;
  end?: StateEnd;
  mark?: StateMark;
}

/** Throws an Error that says which slot is corrupt. */
export function parseState(file: Buffer): RunState {
  if (file.length < STATE_BYTES) throw new Error("state file is cut");
  const header = parseHeader(file);
  const exit = parseExit(slotOf(file, "exit", EXIT_MAGIC));
  const end = parseEnd(slotOf(file, "end", END_MAGIC));
  const mark = parseMark(file);
  return { header, ...(exit && { exit }), ...(end && { end }), ...(mark && { mark }) };
}

/** The header slot alone; throws when it is corrupt. */
export function parseHeader(file: Buffer): StateHeader {
  const b = file.subarray(slots.header, slots.header + SLOT_BYTES);
  if (b.toString("latin1", 0, 8) !== STATE_MAGIC) throw new Error("state file has no header");
  if (!isSealed(b)) throw new Error("state file's header slot is corrupt");
  const layout = b.readUInt32LE(8);
  if (layout !== LAYOUT_VERSION) throw new Error(`state file has layout ${layout}, not ${LAYOUT_VERSION}`);
  const flags = b.readUInt32LE(52);
  return {
    layout,
    protocol: b.readUInt32LE(12),
    id: b.toString("latin1", 16, 52),
    flags,
    tty: (flags & launchFlags.tty) !== 0,
    split: (flags & launchFlags.split) !== 0,
    bootId: b.toString("latin1", 56, 92),
    uid: b.readUInt32LE(92),
    pidNs: readU64(b, 96),
    shimPid: b.readUInt32LE(104),
    leaderPid: b.readUInt32LE(108),
    shimStart: readU64(b, 112),
    leaderStart: readU64(b, 120),
    startedAtMs: readU64(b, 128),
    logHead: readU64(b, 136),
    logRing: readU64(b, 144),
    logSegment: readU64(b, 152),
    outInode: readU64(b, 160),
    errInode: readU64(b, 168),
    cols: b.readUInt32LE(176),
    rows: b.readUInt32LE(180),
    startErrno: b.readInt32LE(184),
    startStage: b.readUInt32LE(188),
    watched: b.readUInt32LE(192) !== 0,
    enforced: toEnforced(b.readUInt32LE(196)),
  };
}

/** The newer valid one of the two mark slots; while one is rewritten the other still counts. */
export function parseMark(file: Buffer): StateMark | undefined {
  const a = readMark(file.subarray(slots.markA, slots.markA + SLOT_BYTES));
  const b = readMark(file.subarray(slots.markB, slots.markB + SLOT_BYTES));
  if (!a || !b) return a ?? b;
  return a.seq > b.seq ? a : b;
}

/** The log has at least this many bytes, by whichever whole slot tells most. */
export function parseLogEnd(file: Buffer): number {
  const told = [parseMark(file)?.logEnd ?? 0];
  for (const [slot, magic, at] of [
    [slots.exit, EXIT_MAGIC, 24],
    [slots.end, END_MAGIC, 16],
  ] as const) {
    const b = file.subarray(slot, slot + SLOT_BYTES);
    if (b.readUInt32LE(0) === magic && isSealed(b)) told.push(readU64(b, at));
  }
  return Math.max(...told);
}

function isSealed(slot: Buffer): boolean {
  return crc32(slot.subarray(0, SLOT_BYTES - 4)) === slot.readUInt32LE(SLOT_BYTES - 4);
}

/** Undefined when the slot was never written. */
function slotOf(file: Buffer, name: "exit" | "end", magic: number): Buffer | undefined {
  const slot = file.subarray(slots[name], slots[name] + SLOT_BYTES);
  const found = slot.readUInt32LE(0);
  if (found === 0) return undefined;
  if (found !== magic || !isSealed(slot)) throw new Error(`state file's ${name} slot is corrupt`);
  return slot;
}

function parseExit(b: Buffer | undefined): StateExit | undefined {
  if (!b) return undefined;
  const reason = toReason(b.readUInt32LE(4));
  return {
    ...(reason && { reason }),
    code: b.readInt32LE(8),
    signal: b.readInt32LE(12),
    exitedAtMs: readU64(b, 16),
    logEnd: readU64(b, 24),
    wallUs: readU64(b, 32),
    userUs: readU64(b, 40),
    systemUs: readU64(b, 48),
    maxRss: readU64(b, 56),
    readBytes: readU64(b, 64),
    writtenBytes: readU64(b, 72),
    children: b.readUInt32LE(80),
    coreDumped: b.readUInt32LE(84) !== 0,
    detail: textUpToNul(b.subarray(88, 344)),
  };
}

function parseEnd(b: Buffer | undefined): StateEnd | undefined {
  if (!b) return undefined;
  return {
    reaped: b.readUInt32LE(4),
    endedAtMs: readU64(b, 8),
    logEnd: readU64(b, 16),
    userUs: readU64(b, 24),
    systemUs: readU64(b, 32),
  };
}

function readMark(b: Buffer): StateMark | undefined {
  if (b.readUInt32LE(0) !== MARK_MAGIC || !isSealed(b)) return undefined;
  const lost: Range[] = [];
  const count = Math.min(b.readUInt32LE(56), MARK_LOST_MAX);
  for (let i = 0; i < count; i++) lost.push([readU64(b, 72 + i * 16), readU64(b, 80 + i * 16)]);
  return {
    warnings: toWarnings(b.readUInt32LE(4)),
    seq: readU64(b, 8),
    logEnd: readU64(b, 16),
    dropped: [readU64(b, 24), readU64(b, 32)],
    indexDropped: [readU64(b, 40), readU64(b, 48)],
    lost,
    cols: b.readUInt32LE(60),
    rows: b.readUInt32LE(64),
  };
}

function textUpToNul(b: Buffer): string {
  const nul = b.indexOf(0);
  return b.toString("utf8", 0, nul < 0 ? b.length : nul);
}
