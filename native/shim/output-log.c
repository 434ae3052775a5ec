#include "output-log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u
#define SLACK_MAX (1ull << 20) // drop in steps, not with every write
#define SEGMENT_MIN (64ull << 10)

void log_open(struct output_log *l) {
  l->fd = l->segment_fd = -1;
  l->dropped_from = l->dropped_to = l->cleared_to = l->head;
}

static int open_log(struct output_log *l) {
  if (l->fd < 0) l->fd = open("log", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  return l->fd;
}

static void segment_name(char name[32], uint64_t number) { snprintf(name, 32, "log.%llu", (unsigned long long)number); }

static int open_segment(struct output_log *l, uint64_t number) {
  char name[32];
  if (l->segment_fd >= 0 && l->segment_open == number) return l->segment_fd;
  if (l->segment_fd >= 0) close(l->segment_fd);
  segment_name(name, number);
  l->segment_fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  l->segment_open = number;
  return l->segment_fd;
}

// Decide the layout before the first byte behind the head. Punching an empty range beyond the end changes nothing where
// it works.
static void choose_layout(struct output_log *l) {
  l->probed = 1;
  int can_punch = 0;
  if (!l->want_segments && open_log(l) >= 0) {
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    can_punch = fallocate(l->fd, mode, (off_t)l->head, PAGE) == 0 || (errno != EOPNOTSUPP && errno != ENOSYS);
  }
  if (can_punch) return;
  l->segment = l->ring / 4 / PAGE * PAGE;
  if (l->segment < SEGMENT_MIN) l->segment = SEGMENT_MIN;
  l->publish(l->owner, 1);
}

static void lose(struct output_log *l, uint64_t from, uint64_t to) {
  uint64_t(*last)[2] = l->lost_count ? &l->lost[l->lost_count - 1] : NULL;
  if (last && (*last)[1] == from) {
    (*last)[1] = to;
    return;
  }
  if (l->lost_count == LOG_LOST) { // ranges that the ring has dropped since are told by the dropped mark
    uint32_t kept = 0;
    for (uint32_t i = 0; i < LOG_LOST; i++) {
      if (l->lost[i][0] >= l->dropped_from && l->lost[i][1] <= l->dropped_to) continue;
      memmove(l->lost[kept++], l->lost[i], sizeof l->lost[i]);
    }
    l->lost_count = kept;
  }
  if (l->lost_count == LOG_LOST) {
    (*last)[1] = to;
    return;
  }
  l->lost[l->lost_count][0] = from;
  l->lost[l->lost_count++][1] = to;
}

// Where offset `at` lies: the file (-1 with errno), the offset in it, and how many bytes in a row are there.
static int place(struct output_log *l, uint64_t at, off_t *in_file, size_t *room) {
  if (!l->segment || at < l->head) {
    *in_file = (off_t)at;
    if (l->segment && l->head - at < *room) *room = (size_t)(l->head - at);
    return open_log(l);
  }
  uint64_t behind = at - l->head, inside = behind % l->segment;
  *in_file = (off_t)inside;
  if (l->segment - inside < *room) *room = (size_t)(l->segment - inside);
  return open_segment(l, behind / l->segment);
}

static void clear_dropped(struct output_log *l) {
  if (l->segment) {
    char name[32];
    for (; l->cleared_to < l->dropped_to; l->cleared_to += l->segment) {
      segment_name(name, (l->cleared_to - l->head) / l->segment);
      unlink(name);
    }
    return;
  }
  int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, failed;
  do failed = l->fd < 0 || fallocate(l->fd, mode, (off_t)l->cleared_to, (off_t)(l->dropped_to - l->cleared_to));
  while (failed && l->fd >= 0 && errno == EINTR);
  if (!failed) l->cleared_to = l->dropped_to; // else the next drop tries again with both ranges
}

static void turn_ring(struct output_log *l) {
  uint64_t slack = l->ring / 8 < SLACK_MAX ? l->ring / 8 : SLACK_MAX;
  if (l->end < l->head || l->end - l->dropped_to <= l->ring + slack) return;
  uint64_t step = l->segment ? l->segment : PAGE;
  uint64_t to = l->head + (l->end - l->ring - l->head) / step * step;
  if (to <= l->dropped_to) return;
  l->dropped_to = to;
  l->publish(l->owner, 0);
  clear_dropped(l);
}

void log_write(struct output_log *l, const uint8_t *data, size_t size) {
  int lost = 0;
  if (!l->probed && l->end + size > l->head) choose_layout(l);
  while (size) {
    off_t in_file;
    size_t part = size;
    int fd = place(l, l->end, &in_file, &part);
    ssize_t n = fd < 0 ? -1 : pwrite(fd, data, part, in_file);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) { // full, or broken: this part is gone, what follows is tried again
      l->error = n < 0 ? errno : ENOSPC;
      lose(l, l->end, l->end + part);
      n = (ssize_t)part;
      lost = 1;
    }
    l->end += (uint64_t)n;
    data += n;
    size -= (size_t)n;
  }
  int changed = lost || l->is_failing;
  l->is_failing = lost;
  if (changed) l->publish(l->owner, 0);
  turn_ring(l);
}

ssize_t log_read(struct output_log *l, uint64_t from, uint8_t *out, size_t size) {
  if (from >= l->end) return 0;
  if (size > l->end - from) size = (size_t)(l->end - from);
  size_t done = 0;
  while (done < size) {
    off_t in_file;
    size_t part = size - done;
    int fd;
    if (l->segment && from + done >= l->head) { // never through segment_fd: reading must not move what is written to
      char name[32];
      uint64_t behind = from + done - l->head, inside = behind % l->segment;
      segment_name(name, behind / l->segment);
      in_file = (off_t)inside;
      if (l->segment - inside < part) part = (size_t)(l->segment - inside);
      fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    } else {
      fd = place(l, from + done, &in_file, &part);
    }
    ssize_t n = fd < 0 ? 0 : pread(fd, out + done, part, in_file);
    if (fd >= 0 && fd != l->fd) close(fd);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) { // behind the end of the file, yet before the end of the log: lost
      memset(out + done, 0, part);
      n = (ssize_t)part;
    }
    done += (size_t)n;
  }
  return (ssize_t)done;
}

void log_mark(const struct output_log *l, struct slot_mark *mark) {
  mark->log_end = l->end;
  mark->dropped_from = l->dropped_from;
  mark->dropped_to = l->dropped_to;
  mark->lost_count = l->lost_count;
  memcpy(mark->lost, l->lost, sizeof mark->lost);
}
