#include "state-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(SLOT_END == SLOT_EXIT + SLOT_SIZE,
               "the exit and end slots are written by one call when they come together");

// Half a byte at a time: 64 bytes of table instead of 1024, and still a microsecond or two for a slot.
uint32_t crc32_of(const void *data, size_t size) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const uint8_t *p = data;
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; i++) {
    crc ^= p[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}

int claim_make(int shim_pid, uint64_t shim_start) {
  char text[64];
  int size = snprintf(text, sizeof text, "started %d %llu\n", shim_pid, (unsigned long long)shim_start);
  int fd = open("claim", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  int wrote = write(fd, text, (size_t)size) == size;
  int error = errno;
  close(fd);
  errno = wrote ? 0 : error ? error : ENOSPC;
  return wrote ? 0 : -1;
}

static void seal(void *slot) {
  uint32_t crc = crc32_of(slot, SLOT_SIZE - sizeof crc);
  memcpy((uint8_t *)slot + SLOT_SIZE - sizeof crc, &crc, sizeof crc);
}

static int put(struct state_file *s, const void *slots, size_t size, off_t at) {
  ssize_t n;
  do n = pwrite(s->fd, slots, size, at);
  while (n < 0 && errno == EINTR);
  if (n >= 0 && (size_t)n != size) errno = ENOSPC;
  s->failed = n < 0 || (size_t)n != size;
  return s->failed ? -1 : 0;
}

int state_create(struct state_file *s) {
  static const uint8_t zeros[STATE_SIZE - SLOT_SIZE];
  memcpy(s->header.magic, STATE_MAGIC, sizeof s->header.magic);
  seal(&s->header);
  s->fd = open("state", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (s->fd < 0) return -1;
  struct iovec whole[2] = {{&s->header, SLOT_SIZE}, {(void *)zeros, sizeof zeros}};
  ssize_t n = writev(s->fd, whole, 2);
  if (n == STATE_SIZE) return 0;
  if (n >= 0) errno = ENOSPC;
  return -1;
}

int state_header(struct state_file *s) {
  seal(&s->header);
  return put(s, &s->header, SLOT_SIZE, SLOT_HEADER);
}

int state_mark(struct state_file *s, struct slot_mark *mark) {
  mark->magic = MARK_MAGIC;
  mark->seq = ++s->mark_seq;
  seal(mark);
  return put(s, mark, SLOT_SIZE, mark->seq % 2 ? SLOT_MARK_A : SLOT_MARK_B);
}

int state_exit(struct state_file *s, struct slot_exit *e, struct slot_end *end) {
  e->magic = EXIT_MAGIC;
  seal(e);
  if (!end) return put(s, e, SLOT_SIZE, SLOT_EXIT);
  uint8_t both[2 * SLOT_SIZE];
  end->magic = END_MAGIC;
  seal(end);
  memcpy(both, e, SLOT_SIZE);
  memcpy(both + SLOT_SIZE, end, SLOT_SIZE);
  return put(s, both, sizeof both, SLOT_EXIT);
}

int state_end(struct state_file *s, struct slot_end *end) {
  end->magic = END_MAGIC;
  seal(end);
  return put(s, end, SLOT_SIZE, SLOT_END);
}

int state_is_gone(const struct state_file *s) {
  struct stat st;
  return s->fd >= 0 && fstat(s->fd, &st) == 0 && st.st_nlink == 0;
}
