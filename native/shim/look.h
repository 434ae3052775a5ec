// look.h: what the tree is doing, from kernel facts alone: /proc, termios, socket tables. Never from the text it
// prints.
//
// The shim is the ancestor of all it looks at, so it may read /proc/PID/syscall even under a restrictive ptrace scope.
#ifndef DROVER_LOOK_H
#define DROVER_LOOK_H

#include "tree.h"

struct look_terminal {
  int master;          // pseudo terminal's master, or -1
  uint64_t stdin_inode; // inode of the stdin pipe, 0 when there is none (or it is closed)
};

// One of `enum activity` (protocol.h). `procs` is a fresh tree_list; `before` and `before_count` are the previous one
// (may be empty) with `elapsed_ms` between them, to tell busy from sleeping by CPU time. waiting_*: some process is
// blocked in read, poll, select or epoll on the terminal (from its foreground group) or on the stdin pipe; ICANON off:
// waiting_keys; ICANON with ECHO off: waiting_secret; else, and for pipes: waiting_line. When facts compete: a blocked
// read(2) by a process that is not busy itself comes first, then busy (CPU time, somebody in state R or D, newcomers),
// stopped (everybody at the ends of the tree is), listening, then a wait for input among other things (poll, select,
// epoll), then sleeping. A process that listens on a port never counts as waiting for input. A process that we may not
// look into (sudo) counts as waiting_secret when it sleeps in the foreground while the terminal has ICANON on and ECHO
// off. Not seen: io_uring, 32-bit programs on a 64-bit kernel. UNKNOWN: nobody lives.
int look_activity(const struct look_terminal *t, const struct proc *procs, size_t count, const struct proc *before,
                  size_t before_count, uint64_t elapsed_ms);

struct look_port {
  uint16_t port;
  pid_t pid;
  char address[48];
};

// TCP ports (v4, v6) on which some process of the list listens, in the network namespace of the first one. A socket
// that several hold is told once, for the first of the list. Returns how many were found, at most `max`.
size_t look_ports(const struct proc *procs, size_t count, struct look_port *out, size_t max);

#endif
