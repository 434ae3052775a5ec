#include "host.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

// Signals are blocked, not ignored: a blocked one is never delivered either, and the command needs one call to be rid
// of it instead of one per signal (execve(2) keeps ignored signals ignored, and the mask as it is). SIGPIPE then only
// shows as EPIPE and SIGXFSZ as EFBIG.
static void settle_signals(void) {
  struct sigaction plain = {.sa_handler = SIG_DFL};
  for (int i = 1; i < NSIG; i++) sigaction(i, &plain, NULL);
  sigset_t mask;
  sigfillset(&mask);
  sigdelset(&mask, SIGTERM);
  sigdelset(&mask, SIGINT);
  sigdelset(&mask, SIGQUIT);
  sigprocmask(SIG_SETMASK, &mask, NULL);
}

int host_open(struct host *h) {
  struct stat ns;
  memset(h, 0, sizeof *h);
  settle_signals();
  h->umask = umask(077);
  h->uid = geteuid();
  h->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (h->null_fd < 0) return -1;
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, h->boot_id, sizeof h->boot_id) != sizeof h->boot_id) return -1;
  close(fd);
  if (stat("/proc/self/ns/pid", &ns)) return -1;
  h->pid_ns = ns.st_ino;
  h->buffer = mmap(NULL, HOST_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return h->buffer == MAP_FAILED ? -1 : 0;
}

void host_leave_stdio(const struct host *h) {
  for (int fd = 0; fd < 3; fd++) dup2(h->null_fd, fd);
}

void host_close_inherited(void) {
  if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0) return;
  for (int fd = 3; fd < 4096; fd++) close(fd); // before Linux 5.9
}

static uint64_t read_us(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t clock_us(void) { return read_us(CLOCK_MONOTONIC); }
uint64_t clock_ms(void) { return read_us(CLOCK_MONOTONIC) / 1000; }
uint64_t wall_us(void) { return read_us(CLOCK_REALTIME); }
