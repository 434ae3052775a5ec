#include "family.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

int family_is_alive(const struct proc *p) { return p->state != 'Z' && p->state != 'X'; }

struct proc *family_list(const struct shim *s, size_t *count) {
  int watches = s->watch_fd >= 0;
  struct proc *list = NULL;
  *count = 0;
  for (size_t room = 32; room <= FAMILY_MAX; room *= 2) {
    struct proc *more = realloc(list, room * sizeof *list);
    if (!more) break;
    list = more;
    size_t first = 0;
    if (watches && proc_read(s->command.pid, list) == 0 && list->start == s->command.start) first = 1;
    *count = watches && !first ? 0 : first + tree_list(watches ? s->command.pid : s->pid, list + first, room - first);
    if (*count < room) break;
  }
  if (*count) return list;
  free(list);
  return NULL;
}

uint32_t family_children(const struct shim *s) {
  if (!s->children_left && s->watch_fd < 0) return 0;
  size_t count;
  uint32_t alive = 0;
  struct proc *list = family_list(s, &count);
  for (size_t i = 0; i < count; i++) alive += family_is_alive(&list[i]) && list[i].pid != s->command.pid;
  free(list);
  return alive;
}

static int read_text(pid_t pid, const char *name, char *out, size_t size) {
  char path[40];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, out, size - 1);
  close(fd);
  if (n < 0) return -1;
  out[n] = 0;
  return 0;
}

int family_io(pid_t pid, uint64_t *read_bytes, uint64_t *written_bytes) {
  char text[256];
  unsigned long long in, out;
  if (read_text(pid, "io", text, sizeof text) || sscanf(text, "rchar: %llu wchar: %llu", &in, &out) != 2) return -1;
  *read_bytes = in;
  *written_bytes = out;
  return 0;
}

int family_cpu(pid_t pid, uint64_t *user_us, uint64_t *system_us) {
  char text[512];
  unsigned long long user, system;
  if (read_text(pid, "stat", text, sizeof text)) return -1;
  const char *rest = strrchr(text, ')'); // the name before it may hold anything
  if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
    return -1;
  uint64_t tick_us = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
  *user_us = user * tick_us;
  *system_us = system * tick_us;
  return 0;
}

// One process of the list, by pidfd, after proof that it is ours.
static int reach(const struct shim *s, const struct proc *p, int signo) {
  if (s->watch_fd >= 0 && p->pid == s->command.pid)
    return (int)syscall(SYS_pidfd_send_signal, s->watch_fd, signo, NULL, 0);
  return tree_signal(s->watch_fd >= 0 ? s->command.pid : s->pid, p->pid, p->start, signo);
}

static uint32_t signal_tree(const struct shim *s, int signo) {
  size_t count;
  uint32_t reached = 0;
  int error = ESRCH;
  struct proc *list = family_list(s, &count);
  for (size_t i = 0; i < count; i++) {
    if (!family_is_alive(&list[i])) continue;
    if (reach(s, &list[i], signo) == 0) reached++;
    else if (errno != ESRCH) error = errno;
  }
  free(list);
  errno = error;
  return reached;
}

// The command's process group and, on a terminal, the group in front, which is whom Ctrl-C would reach. The command is
// not reaped yet, so its number cannot belong to a stranger; the group in front is checked to have a member in our
// tree.
static uint32_t signal_group(const struct shim *s, int signo) {
  pid_t front = -1;
  if (s->command.is_terminal && ioctl(s->command.stdin_fd, TIOCGPGRP, &front)) front = -1;
  size_t count;
  uint32_t in_group = 0, in_front = 0;
  int error = ESRCH;
  struct proc *list = family_list(s, &count);
  for (size_t i = 0; i < count; i++) {
    if (!family_is_alive(&list[i])) continue;
    in_group += list[i].pgid == s->command.pid;
    in_front += list[i].pgid == front && front > 1 && front != s->command.pid;
  }
  free(list);
  if (in_group && kill(-s->command.pid, signo)) error = errno, in_group = 0;
  if (in_front && kill(-front, signo)) error = errno, in_front = 0;
  errno = error;
  return in_group + in_front;
}

uint32_t family_signal(const struct shim *s, int signo, int scope) {
  int is_up = s->phase < PHASE_EXITED;
  if (scope == SCOPE_TREE || (scope == SCOPE_GROUP && !is_up)) return signal_tree(s, signo);
  errno = ESRCH;
  if (!is_up) return 0;
  if (s->watch_fd >= 0)
    return syscall(SYS_pidfd_send_signal, s->watch_fd, signo, NULL, 0) == 0; // its group may hold strangers
  if (scope == SCOPE_LEADER) return kill(s->command.pid, signo) == 0;
  return signal_group(s, signo);
}
