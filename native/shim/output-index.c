#include "output-index.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { INDEX_SLACK = 256 << 10 };
_Static_assert(INDEX_HEAD % 4096 == 0 && INDEX_RING % 4096 == 0 && INDEX_SLACK % 4096 == 0, "holes are whole pages");

void index_open(struct output_index *x) {
  x->fd = -1;
  x->dropped_from = x->dropped_to = INDEX_HEAD;
}

// Returns 0 when there is no room: the ring is full and holes cannot be punched here.
static int turn_ring(struct output_index *x) {
  if (x->size < x->dropped_to + INDEX_RING + INDEX_SLACK) return 1;
  uint64_t before = x->dropped_to;
  x->dropped_to = x->size - INDEX_RING;
  x->publish(x->owner, 0);
  if (fallocate(x->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)before, (off_t)(x->dropped_to - before)) == 0)
    return 1;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return 1;
  x->dropped_to = before;
  x->publish(x->owner, 0);
  return 0;
}

void index_add(struct output_index *x, uint64_t offset, int stream, uint64_t at_us) {
  if (x->size && stream == x->stream && at_us - x->at_us < INDEX_EVERY_US) return;
  struct index_record r = {.offset_stream = offset << 8 | (uint64_t)stream, .at_us = at_us};
  if (x->fd < 0) x->fd = open("index", O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  x->failed = x->fd < 0 || !turn_ring(x) || pwrite(x->fd, &r, sizeof r, (off_t)x->size) != sizeof r;
  if (x->failed) return;
  x->size += sizeof r;
  x->stream = stream;
  x->at_us = at_us;
}
