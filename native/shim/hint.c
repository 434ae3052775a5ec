#include "hint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_FLAGS = O_WRONLY | O_NONBLOCK | O_CLOEXEC };

void hints_open(struct hints *h) {
  h->path_fd = -1;
  h->fd = open("../../hints", OPEN_FLAGS);
  if (h->fd < 0 && errno == ENXIO) h->path_fd = open("../../hints", O_PATH | O_CLOEXEC);
}

// A new daemon usually opens the same FIFO; a FIFO that was made anew is found by its path.
static void reopen(struct hints *h) {
  int fd = open("../../hints", OPEN_FLAGS);
  if (fd < 0 && h->path_fd >= 0) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", h->path_fd);
    fd = open(path, OPEN_FLAGS);
  }
  if (fd < 0) return;
  if (h->fd >= 0) close(h->fd);
  h->fd = fd;
}

static int put(struct hints *h, const struct hint *record, size_t count) {
  ssize_t n = -1;
  errno = EPIPE;
  for (int attempt = 0; attempt < 2; attempt++) {
    while (h->fd >= 0 && (n = write(h->fd, record, count * sizeof *record)) < 0 && errno == EINTR) continue;
    if (n >= 0 || errno != EPIPE || attempt) break;
    reopen(h);
    errno = EPIPE;
  }
  return n >= 0 ? 0 : errno;
}

void hints_tell(struct hints *h, const struct hint *record, size_t count) {
  if (h->kept) hints_retry(h);
  if (!h->kept && put(h, record, count) != EAGAIN) return;
  for (size_t i = 0; i < count; i++) {
    h->pending[record[i].kind] = record[i];
    h->kept |= 1u << record[i].kind;
  }
}

void hints_retry(struct hints *h) {
  for (unsigned kind = 1; kind <= HINT_KINDS; kind++) {
    if (!(h->kept & 1u << kind)) continue;
    if (put(h, &h->pending[kind], 1) == EAGAIN) return;
    h->kept &= ~(1u << kind);
  }
}

int hints_waiting(const struct hints *h) { return h->kept != 0; }

static unsigned nibble(char c) { return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10; }

void hint_set_id(struct hint *record, const char *uuid) {
  size_t n = 0;
  for (const char *p = uuid; p[0] && p[1] && n < sizeof record->id; p += 2) {
    if (*p == '-') p++;
    record->id[n++] = (uint8_t)(nibble(p[0]) << 4 | nibble(p[1]));
  }
}
