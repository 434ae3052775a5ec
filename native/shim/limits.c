// limits.c: see limits.h. Facts about cgroup v2: Documentation/admin-guide/cgroup-v2.rst.
#define _GNU_SOURCE
#include "limits.h"

#include "../protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Small files ----------------------------------------------------------------------------------------------------------

static int put(int dir, const char *name, const char *text) { // async-signal-safe
  int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = write(fd, text, strlen(text));
  close(fd);
  return n < 0 ? -1 : 0;
}

static ssize_t get(int dir, const char *name, char *text, size_t size) { // async-signal-safe
  int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  return n;
}

// ---- The leaf -------------------------------------------------------------------------------------------------------------

// Set one limit of the leaf. Its file is there only when the parent hands the controller on, so that is tried too; the
// kernel refuses it (EBUSY) while the parent itself holds processes.
static int enforce(const struct limits *l, const char *file, const char *controller, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  if (!put(l->leaf_fd, file, text)) return 1;
  return errno == ENOENT && !put(l->parent_fd, "cgroup.subtree_control", controller) && !put(l->leaf_fd, file, text);
}

static void drop(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void open_leaf(struct limits *l) {
  l->parent_fd = open(l->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (l->parent_fd < 0) return;
  // In a directory of another file system this would make plain files' neighbours: only a cgroup has this file.
  if (!faccessat(l->parent_fd, "cgroup.procs", F_OK, 0) && (!mkdirat(l->parent_fd, l->id, 0755) || errno == EEXIST))
    l->leaf_fd = openat(l->parent_fd, l->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (l->leaf_fd < 0) {
    drop(&l->parent_fd);
    return;
  }
  l->kill_fd = openat(l->leaf_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC); // since Linux 5.14
  if (l->memory && enforce(l, "memory.max", "+memory", l->memory)) l->enforced |= ENFORCED_MEMORY_CGROUP;
  if (l->pids && enforce(l, "pids.max", "+pids", l->pids)) l->enforced |= ENFORCED_PIDS_CGROUP;
  if (l->cpu_weight && enforce(l, "cpu.weight", "+cpu", l->cpu_weight)) l->enforced |= ENFORCED_CPU_CGROUP;
}

static void watch_the_rest(struct limits *l) {
  if (l->memory && !(l->enforced & ENFORCED_MEMORY_CGROUP)) l->enforced |= ENFORCED_MEMORY_WATCHED;
  if (l->pids && !(l->enforced & ENFORCED_PIDS_CGROUP)) l->enforced |= ENFORCED_PIDS_WATCHED;
}

void limits_open(struct limits *l) {
  l->enforced = 0;
  l->leaf_fd = l->parent_fd = l->kill_fd = -1;
  if (l->cgroup && l->id && (l->memory || l->pids || l->cpu_weight)) open_leaf(l);
  watch_the_rest(l);
}

void limits_close(struct limits *l) {
  drop(&l->kill_fd);
  drop(&l->leaf_fd);
  if (l->parent_fd >= 0) unlinkat(l->parent_fd, l->id, AT_REMOVEDIR);
  drop(&l->parent_fd);
}

int limits_oom_killed(const struct limits *l) {
  char events[512];
  if (l->leaf_fd < 0 || !(l->enforced & ENFORCED_MEMORY_CGROUP) || get(l->leaf_fd, "memory.events", events, sizeof events) <= 0) return 0;
  const char *line = strstr(events, "oom_kill ");
  return line && strtoull(line + 9, NULL, 10) > 0;
}

// ---- The child ------------------------------------------------------------------------------------------------------------

// snprintf is not async-signal-safe, and between vfork and exec nothing else may be called.
static const char *decimal(int value, char out[16]) {
  unsigned left = value < 0 ? 0u - (unsigned)value : (unsigned)value;
  char *at = out + 15;
  *at = 0;
  do *--at = (char)('0' + left % 10);
  while (left /= 10);
  if (value < 0) *--at = '-';
  return at;
}

static int parse(const char *text) {
  int sign = *text == '-' ? -1 : 1, value = 0;
  for (text += sign < 0; *text >= '0' && *text <= '9'; text++) value = value * 10 + (*text - '0');
  return sign * value;
}

void limits_enter(const struct limits *l) {
  char text[16];
  if (l->leaf_fd >= 0) put(l->leaf_fd, "cgroup.procs", "0"); // 0: whoever writes
  if (l->has_nice) setpriority(PRIO_PROCESS, 0, l->nice);
  if (l->has_oom && get(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof text) > 0 && l->oom_score_adj > parse(text))
    put(AT_FDCWD, "/proc/self/oom_score_adj", decimal(l->oom_score_adj, text));
}

void limits_started(struct limits *l, pid_t pid) {
  char path[32], text[4096];
  if (l->leaf_fd < 0) return;
  snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
  if (get(AT_FDCWD, path, text, sizeof text) <= 0) return; // it has ended: nothing to watch either
  char *line = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text; // the line of version 2; others are of version 1
  if (line && *line == '\n') line++;
  if (line) line[strcspn(line, "\n")] = 0;
  const char *leaf = line ? strrchr(line, '/') : NULL;
  if (leaf && !strcmp(leaf + 1, l->id)) return;
  l->enforced &= ~(unsigned)(ENFORCED_MEMORY_CGROUP | ENFORCED_PIDS_CGROUP | ENFORCED_CPU_CGROUP);
  watch_the_rest(l);
  limits_close(l);
}

// ---- Watching -------------------------------------------------------------------------------------------------------------

int limits_watched(const struct limits *l) { return (l->enforced & (ENFORCED_MEMORY_WATCHED | ENFORCED_PIDS_WATCHED)) != 0; }

int limits_exceeded(const struct limits *l, const struct proc *procs, size_t count, char *why, size_t size) {
  uint64_t memory = 0, pids = 0;
  const uint64_t megabyte = 1 << 20;
  for (size_t i = 0; i < count; i++) {
    if (procs[i].state == 'Z' || procs[i].state == 'X') continue;
    memory += procs[i].rss;
    pids++;
  }
  if (l->enforced & ENFORCED_MEMORY_WATCHED && memory > l->memory) {
    snprintf(why, size, "memory: %llu MB of %llu MB", (unsigned long long)((memory + megabyte - 1) / megabyte),
             (unsigned long long)(l->memory / megabyte));
    return 1;
  }
  if (l->enforced & ENFORCED_PIDS_WATCHED && pids > l->pids) {
    snprintf(why, size, "processes: %llu of %llu", (unsigned long long)pids, (unsigned long long)l->pids);
    return 1;
  }
  return 0;
}
