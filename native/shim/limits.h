// limits.h: what a command may use, and how that is enforced: by a cgroup v2 leaf where one can be made, else by
// watching.
//
// The two differ. A leaf counts each page once, page cache included, and the kernel acts at once; watching adds up the
// resident sets of the tree (pages that processes share count once for each) and looks only now and then, so a quick
// eater is over its limit for a moment. A leaf counts threads as pids; watching counts processes. limits_open owns its
// descriptors until limits_close.
#ifndef DROVER_LIMITS_H
#define DROVER_LIMITS_H

#include "tree.h"

struct limits {
  uint64_t memory;       // bytes, 0 = none
  uint64_t pids;         // 0 = none
  uint64_t cpu_weight;   // 0 = none
  int has_nice, nice;
  int has_oom, oom_score_adj;
  const char *cgroup;    // writable cgroup v2 directory or NULL; only read by limits_open
  const char *id;        // name of the leaf; must stay valid until limits_close
  // filled by limits_open
  unsigned enforced;     // bits of enum enforced
  int leaf_fd;           // directory of the leaf, or -1
  int parent_fd;
  int kill_fd;           // cgroup.kill, or -1
};

// Make the leaf when a cgroup was given and memory, pids or cpu_weight is asked for. What no controller can enforce is
// watched (memory, pids); cpu_weight without a controller is not enforced and says so by its missing bit. Never fails
// the start.
void limits_open(struct limits *l);

// In the child, between vfork and exec: join the leaf, nice, oom_score_adj (raised only; failures ignored).
// Async-signal-safe.
void limits_enter(const struct limits *l);

// After the start: where the command could not join the leaf (it needs write access to the nearest common ancestor of
// both cgroups), what the leaf would enforce is watched instead, and `enforced` says so.
void limits_started(struct limits *l, pid_t pid);

// Watched limits: 1 when the tree is over one, with the reason in words (e.g. "memory: 70 MB of 64 MB"). Called at most
// every LIMITS_EVERY_MS and only when limits_watched says so.
enum { LIMITS_EVERY_MS = 250 };
int limits_watched(const struct limits *l);
int limits_exceeded(const struct limits *l, const struct proc *procs, size_t count, char *why, size_t size);

// 1 when the leaf's memory.events says that the kernel killed something in it for memory.
int limits_oom_killed(const struct limits *l);

// Remove the leaf (it must be empty).
void limits_close(struct limits *l);

#endif
