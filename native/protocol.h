// protocol.h: what the daemon, the keeper and the shim say to each other, and what a shim leaves on disk.
//
// Why: three programs that may come from three builds must agree on every byte. This file is the only place where that is
// written down; src/native/protocol.ts repeats the numbers, and the byte vectors in test/fixtures/frames/ are read by both.
// Everything is little-endian. Version 1. A daemon speaks to shims of the two versions before it, so numbers are only added.
#ifndef DROVER_PROTOCOL_H
#define DROVER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#ifndef DROVER_PROTOCOL_VERSION // an upgrade test builds with a higher one
#define DROVER_PROTOCOL_VERSION 1
#endif
#define DROVER_PROTOCOL_OLDEST 1
#define DROVER_LAYOUT_VERSION 1

// ---- Frames ---------------------------------------------------------------------------------------------------------------
// A frame is a header and a body over any byte stream. `size` counts what follows it (8 + body). An unknown frame without
// FRAME_REQUIRED is skipped; with it, it is answered by FRAME_ERROR. `tag` pairs an answer with its request; notices carry the
// tag of the subscription. A body is a list of fields; unknown fields are skipped. A number is a field of eight bytes.
struct frame_header {
  uint32_t size;
  uint16_t type;
  uint16_t flags;
  uint32_t tag;
};
struct field_header {
  uint16_t key;
  uint16_t zero;
  uint32_t size;
};
enum { FRAME_REQUIRED = 1 };
#define FRAME_MAX (16u << 20)    // a launch with 4 MiB of argv and env and 4 MiB of stdin fits twice
#define FRAME_DATA_MAX (256u << 10) // most bytes of log in one FRAME_DATA, of stdin in one FRAME_STDIN

enum frame_type {
  // daemon -> keeper, keeper -> daemon
  FRAME_LAUNCH = 0x01,        // fork a shim; see the launch fields
  FRAME_LAUNCH_FAILED = 0x02, // ID, ERRNO, STAGE: no shim came to be
  FRAME_READY = 0x03,         // once, when the keeper reads: VERSION
  // client -> shim (control socket), shim -> client
  FRAME_HELLO = 0x10,      // VERSION_MIN, VERSION_MAX; must come first, further requests may follow at once
  FRAME_HELLO_OK = 0x11,   // VERSION, ID, FEATURES
  FRAME_STATUS = 0x12,     //
  FRAME_STATUS_OK = 0x13,  // see the status fields
  FRAME_SUBSCRIBE = 0x14,  // answered by STATUS_OK, then FRAME_NOTICE until the connection closes
  FRAME_NOTICE = 0x15,     // NOTICE and the status fields that changed; at most one every 2 ms for growth
  FRAME_READ = 0x16,       // FROM, SIZE: log bytes, for those who cannot open the file
  FRAME_DATA = 0x17,       // FROM, DATA (may be shorter than asked; empty at the end), END, DROPPED_FROM, DROPPED_TO
  FRAME_STDIN = 0x18,      // DATA?, WRITE_ID? (16 bytes), CLOSE? (1); answered when the kernel has taken all of DATA
  FRAME_STDIN_OK = 0x19,   // SIZE written, DUPLICATE (1 when WRITE_ID was seen before)
  FRAME_RESIZE = 0x1a,     // COLS, ROWS
  FRAME_OK = 0x1b,         //
  FRAME_SIGNAL = 0x1c,     // SIGNAL, SCOPE; REASON is remembered for the exit record
  FRAME_SIGNAL_OK = 0x1d,  // COUNT of processes reached
  FRAME_STOP = 0x1e,       // STEP..., REASON; answered once, when nothing is left or nothing more can be done
  FRAME_STOP_OK = 0x1f,    // PROC... with BY (ended), PROC... with WHY (left), exit fields of the command
  FRAME_LOOK = 0x20,       // WHAT: bits of look_what
  FRAME_LOOK_OK = 0x21,    // PROC..., ACTIVITY, PORT..., usage fields of the living tree
  FRAME_ERROR = 0x22,      // ERRNO, TEXT; the answer to any request that cannot be done
};

enum field_key {
  // launch
  FIELD_ID = 1,             // text, 36 characters
  FIELD_RUN_DIR = 2,        // text, absolute; exists, holds `meta`
  FIELD_CWD = 3,            // text, absolute
  FIELD_EXEC_PATH = 4,      // text, absolute: what execve gets
  FIELD_ARG = 5,            // text, repeated
  FIELD_ENV = 6,            // text NAME=VALUE, repeated
  FIELD_FLAGS = 7,          // number, bits of launch_flag
  FIELD_COLS = 8,           // number
  FIELD_ROWS = 9,           // number
  FIELD_STDIN_DATA = 10,    // bytes written first
  FIELD_LOG_HEAD = 11,      // number: bytes pinned at the start of the log
  FIELD_LOG_RING = 12,      // number: bytes kept at its end
  FIELD_TIMEOUT_MS = 13,    // number: lifetime; absent = none
  FIELD_IDLE_MS = 14,       // number: longest silence; absent = none
  FIELD_GRACE_MS = 15,      // number: TERM to KILL when the shim itself stops the tree
  FIELD_LIMIT_MEMORY = 16,  // number: bytes
  FIELD_LIMIT_PIDS = 17,    // number
  FIELD_CPU_WEIGHT = 18,    // number 1..10000
  FIELD_NICE = 19,          // number, two's complement
  FIELD_OOM_SCORE_ADJ = 20, // number, two's complement
  FIELD_CGROUP = 21,        // text: a writable cgroup v2 directory in which the shim makes a leaf named ID
  FIELD_WATCH_PID = 22,     // number: watch this process instead of starting one (signals and end only)
  FIELD_WATCH_START = 23,   // number: its start time, must match
  // requests and answers
  FIELD_ERRNO = 30,
  FIELD_STAGE = 31,         // number, launch_stage
  FIELD_TEXT = 32,
  FIELD_VERSION = 33,
  FIELD_VERSION_MIN = 34,
  FIELD_VERSION_MAX = 35,
  FIELD_FEATURES = 36,      // number, bits of feature
  FIELD_FROM = 37,
  FIELD_SIZE = 38,
  FIELD_DATA = 39,
  FIELD_WRITE_ID = 40,      // 16 bytes
  FIELD_CLOSE = 41,
  FIELD_DUPLICATE = 42,
  FIELD_SIGNAL = 43,        // number: signal
  FIELD_SCOPE = 44,         // number, signal_scope
  FIELD_COUNT = 45,
  FIELD_STEP = 46,          // number: signal << 32 | milliseconds to wait after it; repeated, in order
  FIELD_REASON = 47,        // number, end_reason
  FIELD_WHAT = 48,          // number, bits of look_what
  FIELD_NOTICE = 49,        // number, bits of notice
  // status
  FIELD_PID = 60,
  FIELD_START = 61,         // start time in clock ticks since boot (/proc/PID/stat field 22)
  FIELD_SHIM_PID = 62,
  FIELD_SHIM_START = 63,
  FIELD_PHASE = 64,         // number, phase
  FIELD_CODE = 65,          // number, two's complement: exit code, -1 when a signal ended it
  FIELD_EXITED_AT_MS = 66,
  FIELD_END = 67,           // log end
  FIELD_DROPPED_FROM = 68,  // [from, to) is gone from the log by the ring
  FIELD_DROPPED_TO = 69,
  FIELD_LOST = 70,          // 16 bytes: from, to; repeated: bytes that could not be written (disk full)
  FIELD_CHILDREN = 71,      // number: descendants alive, the command itself not counted
  FIELD_WARNINGS = 72,      // number, bits of warning
  FIELD_STDIN_STATE = 73,   // number, stdin_state
  FIELD_USER_US = 74,
  FIELD_SYSTEM_US = 75,
  FIELD_MAX_RSS = 76,       // bytes
  FIELD_READ_BYTES = 77,
  FIELD_WRITTEN_BYTES = 78,
  FIELD_RSS = 79,           // bytes, living tree
  FIELD_ENFORCED = 80,      // number, bits of enforced
  // look and stop: a PROC or PORT is itself a list of fields
  FIELD_PROC = 90,          // PID, PPID, START, SESSION, STATE (one character), COMMAND, RSS?, BY? or WHY?
  FIELD_PPID = 91,
  FIELD_SESSION = 92,
  FIELD_STATE = 93,
  FIELD_COMMAND = 94,       // text: command line, blanks between words, at most 4096 bytes; the name in [] when it has none
  FIELD_BY = 95,            // number: the signal that ended it; 0 = it ended by itself
  FIELD_WHY = 96,           // text: why it is still there
  FIELD_ACTIVITY = 97,      // number, activity
  FIELD_PORT = 98,          // PORT_NUMBER, PID, TEXT (address)
  FIELD_PORT_NUMBER = 99,
};

enum launch_flag {
  LAUNCH_TTY = 1,          // a pseudo terminal; always has an open stdin
  LAUNCH_SPLIT = 2,        // stdout and stderr on pipes of their own
  LAUNCH_STDIN_OPEN = 4,   // a stdin pipe that stays open
  LAUNCH_STDIN_DATA = 8,   // a stdin pipe that is closed after STDIN_DATA (unless STDIN_OPEN); neither = /dev/null
  LAUNCH_LOG_SEGMENTS = 16, // keep the ring as files even where holes can be punched
};
enum launch_stage { STAGE_NONE, STAGE_FORK, STAGE_RUN_DIR, STAGE_CLAIM, STAGE_STATE, STAGE_PIPES, STAGE_CWD, STAGE_EXEC, STAGE_WATCH };
enum feature { FEATURE_STOP = 1, FEATURE_LOOK = 2, FEATURE_STDIN = 4, FEATURE_READ = 8, FEATURE_CGROUP = 16 };
enum signal_scope { SCOPE_GROUP, SCOPE_LEADER, SCOPE_TREE }; // GROUP: the command's group; every leftover once it has ended
enum look_what { LOOK_TREE = 1, LOOK_ACTIVITY = 2, LOOK_PORTS = 4, LOOK_USAGE = 8 };
enum notice { NOTICE_GREW = 1, NOTICE_EXITED = 2, NOTICE_ENDED = 4, NOTICE_WARNING = 8 };
enum phase { PHASE_STARTING, PHASE_RUNNING, PHASE_EXITED, PHASE_ENDED }; // ENDED: exited, and no descendant is left
enum end_reason { REASON_NONE, REASON_SIGNALLED_BY_USER, REASON_STOPPED, REASON_TIMEOUT, REASON_IDLE_TIMEOUT, REASON_OOM, REASON_LIMIT, REASON_CRASHED, REASON_SIGNALLED, REASON_NOT_OBSERVED };
enum warning { WARNING_DISK_FULL = 1, WARNING_RUN_DIR_GONE = 2, WARNING_SEGMENTS = 4, WARNING_STATE_FAILED = 8, WARNING_INDEX_FAILED = 16 };
enum stdin_state { STDIN_NULL, STDIN_OPEN, STDIN_CLOSED };
enum enforced { ENFORCED_MEMORY_CGROUP = 1, ENFORCED_MEMORY_WATCHED = 2, ENFORCED_PIDS_CGROUP = 4, ENFORCED_PIDS_WATCHED = 8, ENFORCED_CPU_CGROUP = 16 };
enum activity { ACTIVITY_UNKNOWN, ACTIVITY_BUSY, ACTIVITY_SLEEPING, ACTIVITY_LISTENING, ACTIVITY_WAITING_LINE, ACTIVITY_WAITING_SECRET, ACTIVITY_WAITING_KEYS, ACTIVITY_STOPPED };

// ---- Hints ----------------------------------------------------------------------------------------------------------------
// One record, one write (below PIPE_BUF, so whole) into the FIFO DROVER_HOME/hints, reached as ../../hints from a run directory.
// A hint may be lost; the state file is the truth.
#define HINT_MAGIC 0x31544e48u // "HNT1"
enum hint_kind { HINT_STARTED = 1, HINT_EXITED = 2, HINT_ENDED = 3, HINT_WARNING = 4 };
struct hint { // 80 bytes
  uint32_t magic;
  uint16_t kind;
  uint16_t flags;      // warnings
  uint8_t id[16];      // the process id, binary
  uint32_t pid;        // the command
  int32_t code;        // EXITED; STARTED: errno, 0 when it runs
  uint32_t signal;     // EXITED; STARTED: launch_stage
  uint32_t reason;     // EXITED: end_reason
  uint64_t start;      // the command's start time
  uint64_t log_end;
  uint64_t at_ms;      // wall clock
  uint32_t children;   // EXITED: descendants still alive
  uint32_t shim_pid;
  uint64_t reserved;
};

// ---- State file -----------------------------------------------------------------------------------------------------------
// 4096 bytes, written whole before the command starts, so that its block exists when the disk is full. Slots of 512 bytes,
// each rewritten by one pwrite and ended by the CRC-32 (zlib's) of the 508 bytes before it: whole or absent.
#define STATE_SIZE 4096
#define SLOT_SIZE 512
enum state_slot { SLOT_HEADER = 0, SLOT_EXIT = 512, SLOT_END = 1024, SLOT_MARK_A = 1536, SLOT_MARK_B = 2048 };
#define STATE_MAGIC "DROVERS1"
#define EXIT_MAGIC 0x54495845u // "EXIT"
#define END_MAGIC 0x53444e45u  // "ENDS"
#define MARK_MAGIC 0x4b52414du // "MARK"

struct slot_header {
  char magic[8];
  uint32_t layout;
  uint32_t protocol;
  char id[36];
  uint32_t flags;         // launch_flag
  char boot_id[36];
  uint32_t uid;
  uint64_t pid_ns;        // inode of /proc/self/ns/pid
  uint32_t shim_pid;
  uint32_t leader_pid;    // 0 until the command runs
  uint64_t shim_start;
  uint64_t leader_start;
  uint64_t started_at_ms;
  uint64_t log_head;
  uint64_t log_ring;
  uint64_t log_segment;   // 0: one sparse file
  uint64_t out_inode;     // the pipe or terminal the command writes to
  uint64_t err_inode;     // with LAUNCH_SPLIT
  uint32_t cols;
  uint32_t rows;
  int32_t start_errno;    // why it did not start
  uint32_t start_stage;
  uint32_t watched;       // 1: a process that was there before
  uint32_t enforced;
  uint8_t reserved[308];
  uint32_t crc;
};
struct slot_exit {
  uint32_t magic;
  uint32_t reason;
  int32_t code;           // -1 when a signal ended it
  int32_t signal;
  uint64_t exited_at_ms;
  uint64_t log_end;
  uint64_t wall_us;
  uint64_t user_us;       // the command and the children it waited for
  uint64_t system_us;
  uint64_t max_rss;       // bytes
  uint64_t read_bytes;    // read(2) and the like, of the command itself
  uint64_t written_bytes;
  uint32_t children;      // alive at that moment
  uint32_t core_dumped;
  char detail[256];       // evidence in words, may be empty
  uint8_t reserved[164];
  uint32_t crc;
};
struct slot_end { // no descendant is left and nobody can write any more
  uint32_t magic;
  uint32_t reaped;        // descendants reaped in all
  uint64_t ended_at_ms;
  uint64_t log_end;
  uint64_t user_us;       // everything that was reaped
  uint64_t system_us;
  uint8_t reserved[468];
  uint32_t crc;
};
struct slot_mark { // the newer valid one of A and B counts
  uint32_t magic;
  uint32_t warnings;
  uint64_t seq;
  uint64_t log_end;       // at least; the log file may be longer
  uint64_t dropped_from;  // published before the bytes go
  uint64_t dropped_to;
  uint64_t index_dropped_from;
  uint64_t index_dropped_to;
  uint32_t lost_count;    // ranges that could not be written; when there are more than fit, the last one is widened
  uint32_t cols;
  uint32_t rows;
  uint32_t pad;
  uint64_t lost[24][2];
  uint8_t reserved[52];
  uint32_t crc;
};

// ---- Index file -----------------------------------------------------------------------------------------------------------
// Records of 16 bytes: from this offset on, output came at this time on this stream. Coalesced (same stream within 100 ms: no
// new record). The first INDEX_HEAD bytes stay, then the last INDEX_RING bytes; holes are punched between.
struct index_record {
  uint64_t offset_stream; // offset << 8 | stream (1 stdout, 2 stderr; merged and terminal output is 1)
  uint64_t at_us;         // wall clock
};
#define INDEX_HEAD (1u << 20)
#define INDEX_RING (4u << 20)

_Static_assert(sizeof(struct frame_header) == 12, "frame header");
_Static_assert(sizeof(struct field_header) == 8, "field header");
_Static_assert(sizeof(struct hint) == 80, "hint");
_Static_assert(sizeof(struct slot_header) == SLOT_SIZE, "header slot");
_Static_assert(sizeof(struct slot_exit) == SLOT_SIZE, "exit slot");
_Static_assert(sizeof(struct slot_end) == SLOT_SIZE, "end slot");
_Static_assert(sizeof(struct slot_mark) == SLOT_SIZE, "mark slot");
_Static_assert(offsetof(struct slot_header, crc) == SLOT_SIZE - 4, "header crc");
_Static_assert(offsetof(struct slot_exit, crc) == SLOT_SIZE - 4, "exit crc");
_Static_assert(offsetof(struct slot_end, crc) == SLOT_SIZE - 4, "end crc");
_Static_assert(offsetof(struct slot_mark, crc) == SLOT_SIZE - 4, "mark crc");

#endif
