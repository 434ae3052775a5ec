// look.c: see look.h. What a thread waits for is in /proc/PID/task/TID/syscall: the number and six arguments of the
// call it is blocked in, or "running". Descriptors among them are compared with the terminal and the stdin pipe; sets
// of descriptors are read from its memory (poll, select) or from /proc/PID/fdinfo (epoll).
#define _GNU_SOURCE
#include "look.h"

#include "../protocol.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

enum { PTS_MAJOR = 136, POLL_FDS_MAX = 1024, BUSY_PERCENT = 5, PORTS_MAX = 256, FEW = 64 };

enum waiting { WAITS_NOT, WAITS_AMONG_OTHERS, WAITS_IN_READ, WAITS_UNSEEN }; // UNSEEN: we may not look into that process

struct input { // what counts as the command's input
  dev_t terminal; // 0: none
  pid_t foreground; // group that may read from the terminal, 0: not known
  uint64_t pipe;
};

// ---- What a thread is blocked in ------------------------------------------------------------------------------------------

static int is_input(const struct input *in, pid_t pid, long fd) {
  char path[48], link[64];
  struct stat st;
  if (fd < 0 || fd > 1 << 24) return 0;
  snprintf(path, sizeof path, "/proc/%d/fd/%ld", pid, fd);
  ssize_t n = readlink(path, link, sizeof link - 1);
  if (n <= 0) return 0;
  link[n] = 0;
  if (!strncmp(link, "pipe:[", 6)) return in->pipe && strtoull(link + 6, NULL, 10) == in->pipe;
  // Only what can be a terminal is asked for more: stat(2) of a file on a dead network file system would never return.
  // A terminal of another mount namespace has a path like "/3".
  if (!in->terminal || (strncmp(link, "/dev/", 5) && !(link[0] == '/' && link[1] >= '0' && link[1] <= '9'))) return 0;
  if (stat(path, &st) || !S_ISCHR(st.st_mode)) return 0;
  return st.st_rdev == in->terminal || st.st_rdev == makedev(5, 0); // 5:0 is /dev/tty
}

static int peek(pid_t pid, unsigned long long address, void *to, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static int polls_input(const struct input *in, pid_t pid, unsigned long long address, unsigned long long count) {
  struct pollfd set[POLL_FDS_MAX];
  if (!count || count > POLL_FDS_MAX || !peek(pid, address, set, count * sizeof *set)) return 0;
  for (unsigned long long i = 0; i < count; i++)
    if (set[i].fd >= 0 && set[i].events & (POLLIN | POLLRDNORM) && is_input(in, pid, set[i].fd)) return 1;
  return 0;
}

// The kernel writes what is ready into the sets only when the call ends, so while it is blocked they say what was asked
// for.
static int selects_input(const struct input *in, pid_t pid, unsigned long long count, unsigned long long address) {
  unsigned long set[FD_SETSIZE / (8 * sizeof(unsigned long))] = {0};
  const unsigned bits = 8 * sizeof *set;
  if (!address || !count || count > FD_SETSIZE) return 0;
  if (!peek(pid, address, set, (count + bits - 1) / bits * sizeof *set)) return 0;
  for (unsigned fd = 0; fd < count; fd++)
    if (set[fd / bits] >> (fd % bits) & 1 && is_input(in, pid, fd)) return 1;
  return 0;
}

static int epolls_input(const struct input *in, pid_t pid, unsigned long long epoll) {
  char path[64], line[256];
  int found = 0, fd;
  unsigned events;
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, (int)epoll);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  while (!found && fgets(line, sizeof line, file))
    if (sscanf(line, "tfd: %d events: %x", &fd, &events) == 2 && events & EPOLLIN) found = is_input(in, pid, fd);
  fclose(file);
  return found;
}

static enum waiting thread_waits(const struct input *in, pid_t pid, const char *thread) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/task/%.16s/syscall", pid, thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = file < 0 ? -1 : read(file, line, sizeof line - 1);
  int error = errno;
  if (file >= 0) close(file);
  if (n < 0) return error == EACCES || error == EPERM ? WAITS_UNSEEN : WAITS_NOT;
  line[n] = 0;
  long call;
  unsigned long long a, b, c, stack;
  if (sscanf(line, "%ld %llx %llx %llx %*x %*x %*x %llx", &call, &a, &b, &c, &stack) != 5) return WAITS_NOT; // "running", or "-1 ..."
  if (stack <= UINT32_MAX && sizeof(long) == 8) return WAITS_NOT; // a 32-bit program: other numbers, other layouts
  int among = 0;
  switch (call) {
    case SYS_read:
    case SYS_readv:
    case SYS_splice:
#ifdef SYS_tee
    case SYS_tee:
#endif
      return is_input(in, pid, (long)(int)a) ? WAITS_IN_READ : WAITS_NOT;
    case SYS_sendfile: return is_input(in, pid, (long)(int)b) ? WAITS_IN_READ : WAITS_NOT;
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll: among = polls_input(in, pid, a, b); break;
    // After SIGSTOP and SIGCONT a poll goes on under this name, and so do sleeps and futexes, whose second argument is
    // no such count.
    case SYS_restart_syscall: among = b <= 8 && polls_input(in, pid, a, b); break;
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6: among = selects_input(in, pid, a, b); break;
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_epoll_pwait: among = epolls_input(in, pid, a); break;
    default: return WAITS_NOT;
  }
  return among ? WAITS_AMONG_OTHERS : WAITS_NOT;
}

// The strongest that any thread says.
static enum waiting process_waits(const struct input *in, const struct proc *p) {
  enum waiting most = WAITS_NOT;
  char path[32];
  struct input here = *in;
  if (p->state != 'S') return WAITS_NOT;
  if (here.foreground && p->pgid != here.foreground) here.terminal = 0; // a read from the background does not wait, it stops
  if (!here.terminal && !here.pipe) return WAITS_NOT;
  snprintf(path, sizeof path, "/proc/%d/task", p->pid);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && most != WAITS_IN_READ && (entry = readdir(tasks));) {
    if (*entry->d_name == '.') continue;
    enum waiting one = thread_waits(&here, p->pid, entry->d_name);
    if (one == WAITS_UNSEEN) {
      most = here.terminal ? WAITS_UNSEEN : WAITS_NOT;
      break;
    }
    if (one > most) most = one;
  }
  if (tasks) closedir(tasks);
  return most;
}

// ---- Busy -----------------------------------------------------------------------------------------------------------------

static const struct proc *same_before(const struct proc *p, const struct proc *before, size_t count, size_t hint) {
  for (size_t i = 0; i < count; i++) {
    const struct proc *b = &before[(hint + i) % count];
    if (b->pid == p->pid && b->start == p->start) return b;
  }
  return NULL;
}

static int much(uint64_t ticks, uint64_t elapsed_ms) {
  uint64_t ms = ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
  return ms && ms * 100 >= elapsed_ms * BUSY_PERCENT;
}

static int busy_one(const struct proc *p, const struct proc *before, size_t before_count, size_t hint, uint64_t elapsed_ms) {
  if (p->state == 'R' || p->state == 'D') return 1;
  const struct proc *b = elapsed_ms ? same_before(p, before, before_count, hint) : NULL;
  return b && much(p->cpu_ticks - b->cpu_ticks, elapsed_ms);
}

// CPU time above the threshold, somebody who runs or waits for the disk right now, or, with a list from before,
// processes that came: a build is made of many short ones whose CPU time is gone with them.
static int busy_all(const struct proc *procs, size_t count, const struct proc *before, size_t before_count, uint64_t elapsed_ms) {
  uint64_t ticks = 0;
  for (size_t i = 0; i < count; i++) {
    const struct proc *p = &procs[i];
    if (p->state == 'Z' || p->state == 'X') continue;
    if (p->state == 'R' || p->state == 'D') return 1;
    if (!before_count || !elapsed_ms) continue;
    const struct proc *b = same_before(p, before, before_count, i);
    if (!b) return 1;
    ticks += p->cpu_ticks - b->cpu_ticks;
  }
  return much(ticks, elapsed_ms);
}

// Everybody at the ends of the tree is stopped; those above only wait for them.
static int all_stopped(const struct proc *procs, size_t count) {
  size_t stopped = 0;
  for (size_t i = 0; i < count; i++) {
    if (procs[i].state == 'Z' || procs[i].state == 'X') continue;
    if (procs[i].state == 'T' || procs[i].state == 't') {
      stopped++;
      continue;
    }
    int parent = 0;
    for (size_t j = i + 1; j < count && !parent; j++)
      parent = procs[j].ppid == procs[i].pid && procs[j].state != 'Z' && procs[j].state != 'X';
    if (!parent) return 0;
  }
  return stopped > 0;
}

// ---- Verdict --------------------------------------------------------------------------------------------------------------

static int kind_of_waiting(const struct look_terminal *t, int *secret) {
  struct termios mode;
  *secret = 0;
  if (t->master < 0 || tcgetattr(t->master, &mode)) return ACTIVITY_WAITING_LINE; // the master shows the modes of its slave
  if (!(mode.c_lflag & ICANON)) return ACTIVITY_WAITING_KEYS;
  *secret = !(mode.c_lflag & ECHO);
  return *secret ? ACTIVITY_WAITING_SECRET : ACTIVITY_WAITING_LINE;
}

static int listens(const struct look_port *ports, size_t count, pid_t pid) {
  for (size_t i = 0; i < count; i++)
    if (ports[i].pid == pid) return 1;
  return 0;
}

int look_activity(const struct look_terminal *t, const struct proc *procs, size_t count, const struct proc *before, size_t before_count,
                  uint64_t elapsed_ms) {
  struct input in = {.pipe = t->stdin_inode};
  unsigned number;
  pid_t foreground;
  if (t->master >= 0 && !ioctl(t->master, TIOCGPTN, &number)) in.terminal = makedev(PTS_MAJOR, number);
  if (t->master >= 0 && !ioctl(t->master, TIOCGPGRP, &foreground)) in.foreground = foreground;

  size_t living = 0;
  int weak = 0, secret, kind = kind_of_waiting(t, &secret);
  struct look_port *ports = malloc(PORTS_MAX * sizeof *ports);
  size_t port_count = ports ? look_ports(procs, count, ports, PORTS_MAX) : 0, own = 0;
  for (size_t i = 0; i < count && !own; i++) {
    if (procs[i].state == 'Z' || procs[i].state == 'X') continue;
    living++;
    enum waiting waits = process_waits(&in, &procs[i]);
    // A server that also takes commands, or watches stdin for its end, is a server.
    if (waits == WAITS_NOT || listens(ports, port_count, procs[i].pid)) continue;
    if (waits == WAITS_AMONG_OTHERS) weak = 1;
    // Nobody but a prompt for a password turns ECHO off and leaves ICANON on, so that is enough for sudo and the like.
    else if (waits == WAITS_UNSEEN ? secret : !busy_one(&procs[i], before, before_count, i, elapsed_ms)) own = 1;
  }
  free(ports);
  if (own) return kind;
  if (!living) return ACTIVITY_UNKNOWN;
  if (busy_all(procs, count, before, before_count, elapsed_ms)) return ACTIVITY_BUSY;
  if (all_stopped(procs, count)) return ACTIVITY_STOPPED;
  if (port_count) return ACTIVITY_LISTENING;
  return weak ? kind : ACTIVITY_SLEEPING;
}

// ---- Ports ----------------------------------------------------------------------------------------------------------------

struct listener {
  unsigned long long inode;
  uint16_t port;
  int found;
  char address[48];
};
struct listeners {
  struct listener *list;
  size_t count, room;
};

// "sl local remote state ... inode"; addresses are words of network order printed as numbers of this machine, 0A is
// LISTEN.
static void read_listeners(struct listeners *l, const char *path) {
  char line[512], local[40];
  unsigned port, state;
  struct listener one = {0};
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    int n = sscanf(line, " %*d: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %llu", local, &port, &state, &one.inode);
    if (n != 4 || state != 0x0A) continue;
    uint32_t words[4] = {0};
    int v6 = strlen(local) == 32;
    for (int i = 0; i < (v6 ? 4 : 1); i++) sscanf(local + 8 * i, "%8x", &words[i]);
    if (!inet_ntop(v6 ? AF_INET6 : AF_INET, words, one.address, sizeof one.address)) continue;
    one.port = (uint16_t)port;
    if (l->count == l->room) {
      size_t room = l->room ? l->room * 2 : 32;
      struct listener *list = realloc(l->list, room * sizeof *list);
      if (!list) break;
      l->list = list, l->room = room;
    }
    l->list[l->count++] = one;
  }
  if (file) fclose(file);
}

static int by_inode(const void *left, const void *right) {
  const struct listener *a = left, *b = right;
  return (a->inode > b->inode) - (a->inode < b->inode);
}

static size_t match_sockets(struct listeners *l, pid_t pid, struct look_port *out, size_t count, size_t max) {
  char path[32], link[64];
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *fds = opendir(path);
  for (struct dirent *entry; fds && count < max && (entry = readdir(fds));) {
    ssize_t n = readlinkat(dirfd(fds), entry->d_name, link, sizeof link - 1);
    if (n <= 0) continue;
    link[n] = 0;
    if (strncmp(link, "socket:[", 8)) continue;
    struct listener key = {.inode = strtoull(link + 8, NULL, 10)}, *one = bsearch(&key, l->list, l->count, sizeof key, by_inode);
    if (!one || one->found) continue;
    one->found = 1; // inherited ones are told once, for the parent
    out[count] = (struct look_port){.port = one->port, .pid = pid};
    memcpy(out[count++].address, one->address, sizeof one->address);
  }
  if (fds) closedir(fds);
  return count;
}

static int has_socket(pid_t pid) {
  char path[32], link[64];
  int found = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *fds = opendir(path);
  for (struct dirent *entry; fds && !found && (entry = readdir(fds));)
    found = readlinkat(dirfd(fds), entry->d_name, link, sizeof link) >= 8 && !strncmp(link, "socket:[", 8);
  if (fds) closedir(fds);
  return found;
}

size_t look_ports(const struct proc *procs, size_t count, struct look_port *out, size_t max) {
  struct listeners l = {0};
  size_t found = 0, at = 0;
  char path[32];
  while (at < count && (procs[at].state == 'Z' || procs[at].state == 'X')) at++;
  // The kernel walks its whole hash table for these files (3 ms each here). Most trees are small and hold no socket at
  // all.
  int sockets = count > FEW;
  for (size_t i = at; i < count && !sockets; i++) sockets = has_socket(procs[i].pid);
  if (at == count || !sockets) return 0;
  snprintf(path, sizeof path, "/proc/%d/net/tcp", procs[at].pid);
  read_listeners(&l, path);
  snprintf(path, sizeof path, "/proc/%d/net/tcp6", procs[at].pid);
  read_listeners(&l, path);
  if (l.count) {
    qsort(l.list, l.count, sizeof *l.list, by_inode);
    for (; at < count; at++) found = match_sockets(&l, procs[at].pid, out, found, max);
  }
  free(l.list);
  return found;
}
