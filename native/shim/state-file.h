// state-file.h: the run directory's `claim` and `state`, the truth about a process that outlives everybody who knew it.
//
// Every slot is one pwrite into a block that exists since before the command started, and carries its own checksum:
// after `kill -9` or on a full disk it is whole or absent, never torn. The file descriptor belongs to struct
// state_file.
#ifndef DROVER_STATE_FILE_H
#define DROVER_STATE_FILE_H

#include "../protocol.h"

struct state_file {
  int fd;                    // -1 before state_create
  struct slot_header header; // what state_header writes; the owner fills it
  uint64_t mark_seq;
  int failed; // the last write did not succeed
};

uint32_t crc32_of(const void *data, size_t size); // zlib's

// Make `claim` in the working directory: 0, or -1 with errno; EEXIST means that somebody else has decided about this
// launch.
int claim_make(int shim_pid, uint64_t shim_start);

// Make `state`, whole, with the header slot. 0, or -1 with errno.
int state_create(struct state_file *s);

// Rewrite one slot; the checksum is filled in. 0, or -1 with errno (and `failed`).
int state_header(struct state_file *s);
int state_mark(struct state_file *s, struct slot_mark *mark); // the older of A and B; sets magic and seq
int state_exit(struct state_file *s, struct slot_exit *e, struct slot_end *end); // `end` NULL: not yet
int state_end(struct state_file *s, struct slot_end *end);

// 1 when the state file has lost its name: somebody removed the run directory.
int state_is_gone(const struct state_file *s);

#endif
