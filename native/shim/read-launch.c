#include "read-launch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Returns how many came before the end, or -1.
static ssize_t read_all(int fd, uint8_t *out, size_t size) {
  size_t have = 0;
  while (have < size) {
    ssize_t n = read(fd, out + have, size - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    have += (size_t)n;
  }
  return (ssize_t)have;
}

int read_launch(int fd, struct launch *l, const char **why) {
  uint8_t head[sizeof(struct frame_header)];
  struct frame_header h;
  *why = "the stream has ended";
  ssize_t n = read_all(fd, head, sizeof head);
  if (n == 0) return 0;
  *why = "the stream ended inside a frame";
  if (n != sizeof head) return n < 0 ? -1 : 0;
  memcpy(&h, head, sizeof h);
  *why = "that is no frame";
  if (h.size < sizeof h - sizeof h.size || h.size > FRAME_MAX - sizeof h.size) return -1;
  if (h.type != FRAME_LAUNCH && h.flags & FRAME_REQUIRED) return -1;
  size_t body = h.size + sizeof h.size - sizeof h;
  *why = "no memory";
  if (launch_map(l, sizeof h + body)) return -1;
  memcpy(l->region, head, sizeof head);
  n = read_all(fd, l->region + sizeof head, body);
  *why = "the stream ended inside a frame";
  if (n == (ssize_t)body && h.type == FRAME_LAUNCH) return 1;
  launch_unmap(l);
  if (n == (ssize_t)body) return 2;
  return n < 0 ? -1 : 0;
}
