// host.h: what is true for every shim of one keeper, read once before the first fork: the machine, the user, what the
// command is to inherit, and two things that are cheaper to inherit than to open.
#ifndef DROVER_HOST_H
#define DROVER_HOST_H

#include <stdint.h>
#include <sys/types.h>

enum { HOST_BUFFER = 64 << 10 };

struct host {
  char boot_id[36];
  uint64_t pid_ns; // inode of /proc/self/ns/pid
  uid_t uid;
  mode_t umask;    // the daemon's, for the command; the shim itself uses 077
  int null_fd;     // /dev/null, O_RDWR | O_CLOEXEC
  uint8_t *buffer; // HOST_BUFFER bytes, untouched; a private copy after fork. Nothing in it lives across two calls
};

// Read all of it, set every signal to its default, block all of them but those that should end a keeper, and set umask
// 077. 0, or -1 with errno.
int host_open(struct host *h);

// In the shim: let go of the keeper's fd 0, 1 and 2.
void host_leave_stdio(const struct host *h);

// Close what a careless parent left open, all from 3 on.
void host_close_inherited(void);

uint64_t clock_ms(void); // monotonic
uint64_t clock_us(void); // monotonic
uint64_t wall_us(void);  // since 1970

#endif
