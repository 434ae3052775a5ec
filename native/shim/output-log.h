// output-log.h: every byte of output, kept within a bound: the head stays, behind it a ring of the last bytes.
//
// A byte's offset never changes. The plain layout is one sparse file `log` where offset = file offset; what the ring
// leaves behind is punched out. Where holes cannot be punched, bytes behind the head lie in files `log.N` of `segment`
// bytes each and whole files are unlinked. Which layout holds is decided (and published) before the first byte behind
// the head is written, so it never changes under a reader. Bytes are dropped only after the drop was published:
// log_write hands the new mark to `publish` and touches the file after that.
// A write that fails loses exactly the bytes it names in `lost`; the next write goes to its right offset all the same.
#ifndef DROVER_OUTPUT_LOG_H
#define DROVER_OUTPUT_LOG_H

#include <sys/types.h>

#include "../protocol.h"

enum { LOG_LOST = 24 };

struct output_log {
  uint64_t head, ring; // whole pages, set by the owner
  int want_segments;   // set by the owner
  uint64_t segment;    // 0: plain
  uint64_t end;        // where the next byte goes
  uint64_t dropped_from, dropped_to;
  uint64_t cleared_to;        // punched or unlinked up to here
  uint64_t lost[LOG_LOST][2]; // [from, to)
  uint32_t lost_count;
  int is_failing;        // the last write lost bytes
  int error;             // why, errno
  int fd, segment_fd;    // -1: not open
  uint64_t segment_open; // which one segment_fd is
  int probed;
  void (*publish)(void *owner, int layout_changed); // set by the owner
  void *owner;
};

void log_open(struct output_log *l); // no file is made before the first byte
void log_write(struct output_log *l, const uint8_t *data, size_t size);

// Bytes from `from` on, as many as are there and fit: returns how many, or -1 with errno. What is lost reads as zeros.
// The caller looks at dropped_from and dropped_to first.
ssize_t log_read(struct output_log *l, uint64_t from, uint8_t *out, size_t size);

// Fill the log's part of a mark slot.
void log_mark(const struct output_log *l, struct slot_mark *mark);

#endif
