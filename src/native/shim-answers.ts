import type { Activity, EndReason } from "../contract/index.ts";
import { Fields } from "./frame.ts";
import { readU64 } from "./number64.ts";
import { fieldKeys as key, noticeBits } from "./protocol.ts";
import { joinRanges } from "./ranges.ts";
import type { Range } from "./state-file.ts";
import {
  type Enforced,
  type ShimPhase,
  type StdinState,
  toActivity,
  toEnforced,
  toPhase,
  toReason,
  toStdinState,
  toWarnings,
} from "./words.ts";

/** How the command ended; all absent while it runs. */
export interface ShimExit {
  code?: number;
  signal?: number;
  reason?: EndReason;
  exitedAtMs?: number;
  userUs?: number;
  systemUs?: number;
  maxRss?: number;
  readBytes?: number;
  writtenBytes?: number;
  /** Evidence in words. */
  detail?: string;
}

/** Everything a shim knows about its process. */
export interface ShimStatus extends ShimExit {
  phase: ShimPhase;
  /** 0 until it runs. */
  pid: number;
  start: number;
  shimPid: number;
  shimStart: number;
  end: number;
  dropped: Range[];
  children: number;
  warnings: string[];
  stdin: StdinState;
  cols?: number;
  rows?: number;
  enforced: Enforced;
}

/** Something changed. The parts that did not are absent. */
export interface ShimNotice extends ShimExit {
  grew: boolean;
  exited: boolean;
  ended: boolean;
  warning: boolean;
  phase?: ShimPhase;
  end?: number;
  /** What the ring has dropped; with `warning` also what could not be written. */
  dropped: Range[];
  children?: number;
  warnings?: string[];
}

/** What a stop met. */
export interface ShimStopped extends ShimExit {
  /** `by`: the signal; 0 when it ended by itself. */
  ended: { pid: number; command: string; by: number }[];
  left: { pid: number; command: string; why: string }[];
  /** All that were met; more than are listed when it was a crowd. */
  count: number;
  phase?: ShimPhase;
  end?: number;
}

/** The tree as the kernel shows it. */
export interface ShimLook {
  tree: {
    pid: number;
    ppid: number;
    start: number;
    session: number;
    state: string;
    command: string;
    rssBytes?: number;
  }[];
  activity?: Activity;
  ports: { port: number; pid: number; address: string }[];
  usage?: { userMs: number; systemMs: number; rssBytes: number; readBytes?: number; writtenBytes?: number };
}

export function parseStatus(f: Fields): ShimStatus {
  return {
    phase: toPhase(f.number(key.phase) ?? 0),
    pid: f.number(key.pid) ?? 0,
    start: f.number(key.start) ?? 0,
    shimPid: f.number(key.shimPid) ?? 0,
    shimStart: f.number(key.shimStart) ?? 0,
    ...exitOf(f),
    end: f.number(key.end) ?? 0,
    dropped: droppedOf(f),
    children: f.number(key.children) ?? 0,
    warnings: toWarnings(f.number(key.warnings) ?? 0),
    stdin: toStdinState(f.number(key.stdinState) ?? 0),
    ...present("cols", f.number(key.cols) || undefined),
    ...present("rows", f.number(key.rows) || undefined),
    enforced: toEnforced(f.number(key.enforced) ?? 0),
  };
}

export function parseNotice(f: Fields): ShimNotice {
  const bits = f.number(key.notice) ?? 0;
  const warnings = f.number(key.warnings);
  return {
    grew: (bits & noticeBits.grew) !== 0,
    exited: (bits & noticeBits.exited) !== 0,
    ended: (bits & noticeBits.ended) !== 0,
    warning: (bits & noticeBits.warning) !== 0,
    ...phaseOf(f),
    ...exitOf(f),
    ...present("end", f.number(key.end)),
    dropped: droppedOf(f),
    ...present("children", f.number(key.children)),
    ...present("warnings", warnings === undefined ? undefined : toWarnings(warnings)),
  };
}

export function parseStopped(f: Fields): ShimStopped {
  const stopped: ShimStopped = {
    ended: [],
    left: [],
    count: 0,
    ...phaseOf(f),
    ...exitOf(f),
    ...present("end", f.number(key.end)),
  };
  for (const body of f.all(key.proc)) {
    const proc = new Fields(body);
    const pid = proc.number(key.pid) ?? 0;
    const command = proc.text(key.command) ?? "";
    const why = proc.text(key.why);
    if (why === undefined) stopped.ended.push({ pid, command, by: proc.number(key.by) ?? 0 });
    else stopped.left.push({ pid, command, why });
  }
  stopped.count = f.number(key.count) ?? stopped.ended.length + stopped.left.length;
  return stopped;
}

export function parseLook(f: Fields): ShimLook {
  const activity = f.number(key.activity);
  const rss = f.number(key.rss);
  const usage =
    rss === undefined
      ? undefined
      : {
          userMs: toMs(f.number(key.userUs)),
          systemMs: toMs(f.number(key.systemUs)),
          rssBytes: rss,
          ...present("readBytes", f.number(key.readBytes)),
          ...present("writtenBytes", f.number(key.writtenBytes)),
        };
  return {
    tree: f.all(key.proc).map(toTreeProcess),
    ...present("activity", activity === undefined ? undefined : toActivity(activity)),
    ports: f.all(key.port).map(toPort),
    ...present("usage", usage),
  };
}

function toTreeProcess(body: Buffer): ShimLook["tree"][number] {
  const f = new Fields(body);
  return {
    pid: f.number(key.pid) ?? 0,
    ppid: f.number(key.ppid) ?? 0,
    start: f.number(key.start) ?? 0,
    session: f.number(key.session) ?? 0,
    state: f.text(key.state) ?? "",
    command: f.text(key.command) ?? "",
    ...present("rssBytes", f.number(key.rss)),
  };
}

function toPort(body: Buffer): ShimLook["ports"][number] {
  const f = new Fields(body);
  return { port: f.number(key.portNumber) ?? 0, pid: f.number(key.pid) ?? 0, address: f.text(key.text) ?? "" };
}

function phaseOf(f: Fields): { phase?: ShimPhase } {
  const phase = f.number(key.phase);
  return present("phase", phase === undefined ? undefined : toPhase(phase));
}

function exitOf(f: Fields): ShimExit {
  const code = f.signed(key.code);
  if (code === undefined) return {};
  return {
    code,
    ...present("signal", f.number(key.signal)),
    ...present("reason", toReason(f.number(key.reason) ?? 0)),
    ...present("exitedAtMs", f.number(key.exitedAtMs)),
    ...present("userUs", f.number(key.userUs)),
    ...present("systemUs", f.number(key.systemUs)),
    ...present("maxRss", f.number(key.maxRss)),
    ...present("readBytes", f.number(key.readBytes)),
    ...present("writtenBytes", f.number(key.writtenBytes)),
    ...present("detail", f.text(key.text)),
  };
}

function droppedOf(f: Fields): Range[] {
  const lost = f.all(key.lost).flatMap((b): Range[] => (b.length === 16 ? [[readU64(b, 0), readU64(b, 8)]] : []));
  return joinRanges([[f.number(key.droppedFrom) ?? 0, f.number(key.droppedTo) ?? 0], ...lost]);
}

function toMs(us: number | undefined): number {
  return Math.round((us ?? 0) / 1000);
}

/** A field that is absent instead of undefined. */
function present<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]?: V });
}
