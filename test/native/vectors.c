// vectors: print the byte vectors of test/fixtures/frames/ as C builds them, one line each: name, blank, hex. A test
// compares this output with the .hex files, and src/native with the same files; vectors.json says in words what is
// inside.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../../native/shim/frame.h"
#include "../../native/shim/hint.h"
#include "../../native/shim/state-file.h"

static const char ID[] = "0f8fad5b-d9cb-469f-a165-70867728950e";
static const char BOOT[] = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

static void print(const char *name, const void *data, size_t size) {
  printf("%s ", name);
  for (size_t i = 0; i < size; i++) printf("%02x", ((const uint8_t *)data)[i]);
  putchar('\n');
}

static void print_frame(const char *name, struct bytes *b) {
  frame_end(b, 0);
  print(name, b->data, b->size);
  bytes_free(b);
}

static void launch_minimal(void) {
  struct bytes b = {0};
  frame_begin(&b, FRAME_LAUNCH, 1);
  frame_text(&b, FIELD_ID, ID);
  frame_text(&b, FIELD_RUN_DIR, "/home/u/.drover/run/0f8fad5b-d9cb-469f-a165-70867728950e");
  frame_text(&b, FIELD_CWD, "/tmp");
  frame_text(&b, FIELD_EXEC_PATH, "/bin/sh");
  frame_text(&b, FIELD_ARG, "sh");
  frame_text(&b, FIELD_ARG, "-c");
  frame_text(&b, FIELD_ARG, "echo h\xc3\xa9");
  frame_text(&b, FIELD_ENV, "PATH=/usr/bin:/bin");
  frame_text(&b, FIELD_ENV, "EMPTY=");
  frame_number(&b, FIELD_FLAGS, LAUNCH_SPLIT | LAUNCH_STDIN_OPEN);
  frame_number(&b, FIELD_LOG_HEAD, 1 << 20);
  frame_number(&b, FIELD_LOG_RING, 64 << 20);
  frame_number(&b, FIELD_NICE, (uint64_t)(int64_t)-5);
  print_frame("launch-minimal", &b);
}

static void small_frames(void) {
  struct bytes b = {0};
  frame_begin(&b, FRAME_READY, 0);
  frame_number(&b, FIELD_VERSION, 1);
  print_frame("ready", &b);

  frame_begin(&b, FRAME_HELLO, 2);
  frame_number(&b, FIELD_VERSION_MIN, 1);
  frame_number(&b, FIELD_VERSION_MAX, 3);
  print_frame("hello", &b);

  frame_begin(&b, FRAME_STATUS, 0xfffffffe);
  print_frame("status", &b);

  frame_begin(&b, FRAME_STDIN, 4);
  frame_bytes(&b, FIELD_DATA, "a\0\xff\n", 4);
  frame_bytes(&b, FIELD_WRITE_ID, "0123456789abcdef", 16);
  frame_number(&b, FIELD_CLOSE, 1);
  print_frame("stdin", &b);

  frame_begin(&b, FRAME_STOP, 5);
  frame_number(&b, FIELD_STEP, (uint64_t)SIGTERM << 32 | 5000);
  frame_number(&b, FIELD_STEP, (uint64_t)SIGKILL << 32);
  frame_number(&b, FIELD_REASON, REASON_STOPPED);
  print_frame("stop", &b);

  frame_begin(&b, FRAME_ERROR, 6);
  frame_number(&b, FIELD_ERRNO, 3);
  frame_text(&b, FIELD_TEXT, "nobody is there");
  print_frame("error", &b);
}

static void stop_ok(void) {
  struct bytes b = {0};
  frame_begin(&b, FRAME_STOP_OK, 5);
  size_t at = field_begin(&b, FIELD_PROC);
  frame_number(&b, FIELD_PID, 4242);
  frame_number(&b, FIELD_START, 987654321);
  frame_text(&b, FIELD_COMMAND, "sleep 100");
  frame_number(&b, FIELD_BY, SIGKILL);
  field_end(&b, at);
  at = field_begin(&b, FIELD_PROC);
  frame_number(&b, FIELD_PID, 4243);
  frame_number(&b, FIELD_START, 987654322);
  frame_text(&b, FIELD_COMMAND, "[defunct]");
  frame_text(&b, FIELD_WHY, "in uninterruptible sleep");
  field_end(&b, at);
  frame_number(&b, FIELD_CODE, (uint64_t)(int64_t)-1);
  frame_number(&b, FIELD_SIGNAL, SIGKILL);
  print_frame("stop-ok", &b);
}

static void hint_exited(void) {
  struct hint h = {.magic = HINT_MAGIC, .kind = HINT_EXITED, .flags = WARNING_DISK_FULL, .pid = 4242, .code = -1};
  hint_set_id(&h, ID);
  h.signal = SIGSEGV;
  h.reason = REASON_CRASHED;
  h.start = 987654321;
  h.log_end = 0x1234567890;
  h.at_ms = 1700000000123;
  h.children = 2;
  h.shim_pid = 4241;
  print("hint-exited", &h, sizeof h);
}

static void seal(void *slot) {
  uint32_t crc = crc32_of(slot, SLOT_SIZE - sizeof crc);
  memcpy((uint8_t *)slot + SLOT_SIZE - sizeof crc, &crc, sizeof crc);
}

static void slots(void) {
  struct slot_header h = {
      .magic = STATE_MAGIC, .layout = 1, .protocol = 1, .flags = LAUNCH_TTY, .uid = 1000, .pid_ns = 4026531836};
  memcpy(h.id, ID, sizeof h.id);
  memcpy(h.boot_id, BOOT, sizeof h.boot_id);
  h.shim_pid = 4241, h.leader_pid = 4242, h.shim_start = 987654320, h.leader_start = 987654321;
  h.started_at_ms = 1700000000000, h.log_head = 1 << 20, h.log_ring = 64 << 20, h.log_segment = 16 << 20;
  h.out_inode = 777, h.err_inode = 778, h.cols = 120, h.rows = 40, h.enforced = ENFORCED_MEMORY_WATCHED;
  seal(&h);
  print("state-header", &h, sizeof h);

  struct slot_exit e = {
      .magic = EXIT_MAGIC, .reason = REASON_LIMIT, .code = -1, .signal = SIGKILL, .detail = "memory: 70 MB of 64 MB"};
  e.exited_at_ms = 1700000000123, e.log_end = 0x1234567890, e.wall_us = 123456, e.user_us = 1000, e.system_us = 2000;
  e.max_rss = 70 << 20, e.read_bytes = 11, e.written_bytes = 12, e.children = 2, e.core_dumped = 1;
  seal(&e);
  print("state-exit", &e, sizeof e);

  struct slot_end end = {.magic = END_MAGIC,
                         .reaped = 3,
                         .ended_at_ms = 1700000000456,
                         .log_end = 0x1234567899,
                         .user_us = 1500,
                         .system_us = 2500};
  seal(&end);
  print("state-end", &end, sizeof end);

  struct slot_mark m = {
      .magic = MARK_MAGIC, .warnings = WARNING_DISK_FULL, .seq = 9, .log_end = 0x1234567890, .dropped_from = 1 << 20};
  m.dropped_to = 0x1234000000, m.index_dropped_from = INDEX_HEAD, m.index_dropped_to = INDEX_HEAD, m.lost_count = 2;
  m.cols = 100, m.rows = 30, m.lost[0][0] = 4096, m.lost[0][1] = 8192, m.lost[1][0] = 10000, m.lost[1][1] = 10001;
  seal(&m);
  print("state-mark", &m, sizeof m);

  struct index_record r = {.offset_stream = 0x123456ull << 8 | 2, .at_us = 1700000000123456};
  print("index-record", &r, sizeof r);
}

int main(void) {
  launch_minimal();
  small_frames();
  stop_ok();
  hint_exited();
  slots();
  return 0;
}
