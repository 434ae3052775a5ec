// tree.c: see tree.h. Everything is read afresh from /proc; nothing is remembered between calls.
#define _GNU_SOURCE
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// The same numbers on every architecture; older libc headers lack them.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef DROVER_TREE_SCAN // 1: behave as on a kernel without CONFIG_PROC_CHILDREN, for tests
#define DROVER_TREE_SCAN 0
#endif

enum { PID_LIMIT = 4 << 20, WALK_LIMIT = 1 << 16, WALK_TRIES = 8 }; // PID_LIMIT: the kernel's own, include/linux/threads.h

static ssize_t read_file(const char *path, char *buffer, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = 0;
  size_t have = 0;
  while (have < size - 1 && (n = read(fd, buffer + have, size - 1 - have)) > 0) have += (size_t)n;
  int error = errno;
  close(fd);
  errno = error;
  if (n < 0 && !have) return -1; // ESRCH: it went between open and read
  buffer[have] = 0;
  return (ssize_t)have;
}

// Parse a stat line; the name in it may hold blanks and parentheses, so everything counts from the last ')'. Returns
// the number of threads, or -1.
static long parse_stat(const char *path, struct proc *out) {
  char line[1024];
  if (read_file(path, line, sizeof line) < 0) {
    if (errno == ENOENT) errno = ESRCH;
    return -1;
  }
  const char *rest = strrchr(line, ')');
  int ppid, pgid, session;
  unsigned long long user, system, start, vsize;
  long threads, pages;
  if (!rest || sscanf(rest + 1, " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %ld %*d %llu %llu %ld", &out->state,
                      &ppid, &pgid, &session, &user, &system, &threads, &start, &vsize, &pages) != 10) {
    errno = ESRCH;
    return -1;
  }
  out->ppid = ppid;
  out->pgid = pgid;
  out->session = session;
  out->start = start;
  out->cpu_ticks = user + system;
  out->rss = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
  return threads;
}

// The state of some thread that still lives, for a process whose main thread has ended.
static char living_thread_state(pid_t pid) {
  char path[64], state = 'Z';
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = opendir(path);
  if (!tasks) return state;
  for (struct dirent *entry; state == 'Z' && (entry = readdir(tasks));) {
    struct proc thread;
    if (*entry->d_name == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", pid, entry->d_name);
    if (parse_stat(path, &thread) >= 0 && thread.state != 'Z' && thread.state != 'X') state = thread.state;
  }
  closedir(tasks);
  return state;
}

int proc_read(pid_t pid, struct proc *out) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  out->pid = pid;
  long threads = parse_stat(path, out);
  if (threads < 0) return -1;
  if (out->state == 'Z' && threads > 1) out->state = living_thread_state(pid);
  return 0;
}

size_t proc_command(pid_t pid, char *out, size_t size) {
  char path[32];
  if (!size) return 0;
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  ssize_t n = read_file(path, out, size);
  while (n > 0 && !out[n - 1]) n--;
  for (ssize_t i = 0; i < n; i++)
    if (!out[i]) out[i] = ' ';
  if (n > 0) {
    out[n] = 0;
    return (size_t)n;
  }
  char name[64];
  snprintf(path, sizeof path, "/proc/%d/comm", pid);
  n = read_file(path, name, sizeof name);
  if (n > 0 && name[n - 1] == '\n') name[n - 1] = 0;
  int length = snprintf(out, size, "[%s]", n > 0 ? name : "?");
  return (size_t)length < size ? (size_t)length : size - 1;
}

// ---- Ancestry -------------------------------------------------------------------------------------------------------------

// 1 when `of` is `root` or descends from it at this moment. A parent may end during the walk (its child then has
// another one): start again. A parent is never younger than its child, so a reused pid on the way up is noticed.
static int descends(pid_t root, const struct proc *of) {
  for (int tries = 0; tries < WALK_TRIES; tries++) {
    struct proc at = *of, up;
    if (at.pid != root && tries && (proc_read(of->pid, &at) || at.start != of->start)) return 0;
    for (int steps = 0; steps < WALK_LIMIT; steps++) {
      if (at.pid == root) return 1;
      if (at.ppid == root) return 1;
      if (at.ppid <= 1) return 0;
      if (proc_read(at.ppid, &up) || up.start > at.start) break;
      at = up;
    }
  }
  return 0;
}

// ---- List -----------------------------------------------------------------------------------------------------------------

struct listing {
  pid_t root;
  struct proc *out;
  size_t count, max;
  unsigned char *seen; // one bit per pid: somebody reparented during the scan would be met twice
  pid_t *pids;         // scratch
  size_t room;
};

static void listing_add(struct listing *l, pid_t pid, pid_t parent) {
  if (l->count == l->max || pid <= 0 || pid >= PID_LIMIT || pid == l->root) return;
  unsigned char bit = (unsigned char)(1u << (pid & 7));
  if (l->seen && l->seen[pid >> 3] & bit) return;
  struct proc *p = &l->out[l->count];
  if (proc_read(pid, p)) return;
  if (p->ppid != parent && !descends(l->root, p)) return; // it ended, and a stranger has its number
  if (l->seen) l->seen[pid >> 3] |= bit;
  l->count++;
}

// Children of one thread: numbers with blanks between them, which may be cut by the end of the buffer. All are taken
// before the first is looked at: a quick forker adds to the end of this list, and reading it slowly would never come to
// that end.
static void add_children(struct listing *l, pid_t parent, const char *path) {
  char buffer[4096];
  size_t count = 0;
  pid_t value = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  for (ssize_t n = 1; n > 0 && count < l->max;) {
    n = read(fd, buffer, sizeof buffer);
    if (count + sizeof buffer / 2 >= l->room) {
      pid_t *pids = realloc(l->pids, (l->room * 2 + sizeof buffer) * sizeof *pids);
      if (!pids) break;
      l->pids = pids, l->room = l->room * 2 + sizeof buffer;
    }
    for (ssize_t i = 0; i < n; i++) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        value = value * 10 + (buffer[i] - '0');
      } else {
        if (value) l->pids[count++] = value;
        value = 0;
      }
    }
  }
  close(fd);
  if (value && count < l->room) l->pids[count++] = value;
  for (size_t i = 0; i < count; i++) listing_add(l, l->pids[i], parent);
}

static void list_by_children(struct listing *l) {
  pid_t parent = l->root;
  for (size_t at = 0;; parent = l->out[at++].pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", parent);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
      if (*entry->d_name == '.') continue;
      snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", parent, entry->d_name);
      add_children(l, parent, path);
    }
    if (tasks) closedir(tasks);
    if (at == l->count) return;
  }
}

static int by_parent(const void *left, const void *right) {
  const struct proc *a = left, *b = right;
  return a->ppid != b->ppid ? (a->ppid < b->ppid ? -1 : 1) : (a->pid > b->pid) - (a->pid < b->pid);
}

// Without children files: every process of the machine, sorted by parent, then the same walk over that table.
static void list_by_scan(struct listing *l) {
  struct proc *all = NULL;
  size_t count = 0, room = 0;
  DIR *processes = opendir("/proc");
  for (struct dirent *entry; processes && (entry = readdir(processes));) {
    if (*entry->d_name < '1' || *entry->d_name > '9') continue;
    if (count == room) {
      struct proc *more = realloc(all, (room ? room * 2 : 256) * sizeof *all);
      if (!more) break;
      all = more, room = room ? room * 2 : 256;
    }
    if (!proc_read((pid_t)strtol(entry->d_name, NULL, 10), &all[count])) count++;
  }
  if (processes) closedir(processes);
  if (count) qsort(all, count, sizeof *all, by_parent);
  pid_t parent = l->root;
  for (size_t at = 0; count; parent = l->out[at++].pid) {
    size_t low = 0, high = count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (all[middle].ppid < parent) low = middle + 1;
      else high = middle;
    }
    for (; low < count && all[low].ppid == parent; low++) listing_add(l, all[low].pid, parent);
    if (at == l->count) break;
  }
  free(all);
}

size_t tree_list(pid_t root, struct proc *out, size_t max) {
  char path[64];
  struct listing l = {.root = root, .out = out, .max = max};
  // Straight from the kernel, not malloc: only touched pages cost memory, and they are given back.
  void *bits = mmap(NULL, PID_LIMIT / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  l.seen = bits == MAP_FAILED ? NULL : bits;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", root, root);
  if (DROVER_TREE_SCAN || access(path, F_OK)) list_by_scan(&l);
  else list_by_children(&l);
  free(l.pids);
  if (l.seen) munmap(l.seen, PID_LIMIT / 8);
  return l.count;
}

// ---- Signal ---------------------------------------------------------------------------------------------------------------

// The process, while it is proven to be the one that is meant: this start time and, when asked for, below `root`.
static int prove(pid_t root, pid_t pid, uint64_t start) {
  struct proc p;
  if (!proc_read(pid, &p) && p.start == start && (!root || descends(root, &p))) return 0;
  errno = ESRCH;
  return -1;
}

// A pidfd names the process that had the number when it was opened, for ever. Proofs that are read after that from
// /proc by number are about the same process, or its start time would differ; so the signal reaches it or nobody.
// Kernels before 5.3 and some sandboxes have no pidfd (ENOSYS; EPERM from old seccomp profiles), and descriptors may be
// used up: then kill(2), right after the proofs.
static int signal_proven(pid_t root, pid_t pid, uint64_t start, int signo) {
  if (pid <= 1) {
    errno = ESRCH;
    return -1;
  }
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0 && (errno == ESRCH || errno == EINVAL)) {
    errno = ESRCH;
    return -1;
  }
  int result = prove(root, pid, start);
  if (!result && fd >= 0) {
    result = (int)syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0);
    if (result && (errno == ENOSYS || errno == EPERM) && !(result = prove(root, pid, start))) result = kill(pid, signo);
  } else if (!result) {
    result = kill(pid, signo);
  }
  int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return result;
}

int tree_signal(pid_t root, pid_t pid, uint64_t start, int signo) {
  if (root > 0) return signal_proven(root, pid, start, signo);
  errno = ESRCH;
  return -1;
}

int proc_signal(pid_t pid, uint64_t start, int signo) { return signal_proven(0, pid, start, signo); }
