/** The numbers of native/protocol.h, said again. test/native/vectors.test.ts compares the bytes of both. */

export const PROTOCOL_VERSION = 1;

/** A daemon speaks to shims of the two versions before it. */
export const PROTOCOL_OLDEST = Math.max(1, PROTOCOL_VERSION - 2);
export const LAYOUT_VERSION = 1;

export const FRAME_HEADER_BYTES = 12;
export const FIELD_HEADER_BYTES = 8;
export const FRAME_REQUIRED = 1;
/** Largest frame: a launch with 4 MiB of argv and env and 4 MiB of stdin fits twice. */
export const FRAME_MAX = 16 << 20;
/** Most bytes of stdin in one frame. */
export const FRAME_DATA_MAX = 256 << 10;

export const frameTypes = {
  launch: 0x01,
  launchFailed: 0x02,
  ready: 0x03,
  hello: 0x10,
  helloOk: 0x11,
  status: 0x12,
  statusOk: 0x13,
  subscribe: 0x14,
  notice: 0x15,
  read: 0x16,
  data: 0x17,
  stdin: 0x18,
  stdinOk: 0x19,
  resize: 0x1a,
  ok: 0x1b,
  signal: 0x1c,
  signalOk: 0x1d,
  stop: 0x1e,
  stopOk: 0x1f,
  look: 0x20,
  lookOk: 0x21,
  error: 0x22,
} as const;

export const fieldKeys = {
  id: 1,
  runDir: 2,
  cwd: 3,
  execPath: 4,
  arg: 5,
  env: 6,
  flags: 7,
  cols: 8,
  rows: 9,
  stdinData: 10,
  logHead: 11,
  logRing: 12,
  timeoutMs: 13,
  idleMs: 14,
  graceMs: 15,
  limitMemory: 16,
  limitPids: 17,
  cpuWeight: 18,
  nice: 19,
  oomScoreAdj: 20,
  cgroup: 21,
  watchPid: 22,
  watchStart: 23,
  errno: 30,
  stage: 31,
  text: 32,
  version: 33,
  versionMin: 34,
  versionMax: 35,
  features: 36,
  from: 37,
  size: 38,
  data: 39,
  writeId: 40,
  close: 41,
  duplicate: 42,
  signal: 43,
  scope: 44,
  count: 45,
  step: 46,
  reason: 47,
  what: 48,
  notice: 49,
  pid: 60,
  start: 61,
  shimPid: 62,
  shimStart: 63,
  phase: 64,
  code: 65,
  exitedAtMs: 66,
  end: 67,
  droppedFrom: 68,
  droppedTo: 69,
  lost: 70,
  children: 71,
  warnings: 72,
  stdinState: 73,
  userUs: 74,
  systemUs: 75,
  maxRss: 76,
  readBytes: 77,
  writtenBytes: 78,
  rss: 79,
  enforced: 80,
  proc: 90,
  ppid: 91,
  session: 92,
  state: 93,
  command: 94,
  by: 95,
  why: 96,
  activity: 97,
  port: 98,
  portNumber: 99,
} as const;

export const launchFlags = { tty: 1, split: 2, stdinOpen: 4, stdinData: 8, logSegments: 16 } as const;
export const lookBits = { tree: 1, activity: 2, ports: 4, usage: 8 } as const;
export const noticeBits = { grew: 1, exited: 2, ended: 4, warning: 8 } as const;
export const scopes = { group: 0, leader: 1, tree: 2 } as const;

export const HINT_BYTES = 80;
export const HINT_MAGIC = 0x31544e48;

export const STATE_BYTES = 4096;
export const SLOT_BYTES = 512;
export const slots = { header: 0, exit: 512, end: 1024, markA: 1536, markB: 2048 } as const;
export const STATE_MAGIC = "DROVERS1";
export const EXIT_MAGIC = 0x54495845;
export const END_MAGIC = 0x53444e45;
export const MARK_MAGIC = 0x4b52414d;
/** Ranges that fit in a mark slot. */
export const MARK_LOST_MAX = 24;

export const INDEX_RECORD_BYTES = 16;

/** Where a launch failed. */
export const launchStages = {
  none: 0,
  fork: 1,
  run_dir: 2,
  claim: 3,
  state: 4,
  pipes: 5,
  cwd: 6,
  exec: 7,
  watch: 8,
} as const;
