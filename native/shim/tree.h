// tree.h: who descends from this shim right now, and how to signal one of them without ever hitting a stranger.
//
// The kernel gives no atomic list of descendants: /proc/PID/task/TID/children is exact only for stopped tasks, so
// callers repeat until wait(2) says ECHILD. Nothing here is async-signal-safe. Callers own the arrays they pass.
#ifndef DROVER_TREE_H
#define DROVER_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
  pid_t pid;
  pid_t ppid;
  pid_t pgid;
  pid_t session;
  char state;          // as in /proc/PID/stat: R S D T t Z X I; but Z only when no thread lives (the kernel says Z for a
                       // process whose main thread alone has ended)
  uint64_t start;      // clock ticks since boot
  uint64_t cpu_ticks;  // user + system
  uint64_t rss;        // bytes
};

// Fill one entry from /proc/PID/stat. 0, or -1 with errno when it is gone.
int proc_read(pid_t pid, struct proc *out);

// The command line with blanks between words, at most size - 1 bytes, always ended by NUL; "[name]" when it has none
// (kernel threads, zombies). Returns its length.
size_t proc_command(pid_t pid, char *out, size_t size);

// Every living descendant of `root` (itself not included), parents before children, zombies included. Returns how many
// were found, at most `max`.
size_t tree_list(pid_t root, struct proc *out, size_t max);

// Pin by pidfd, prove that the start time matches and that it descends from `root` (or is it), then signal. 0, or -1
// with errno (ESRCH: gone or not ours).
int tree_signal(pid_t root, pid_t pid, uint64_t start, int signo);

// The same without the proof of descent: for a process that was proven to be ours when its start time was taken, and
// may have been given to another parent since (below a watched process, which is no subreaper).
int proc_signal(pid_t pid, uint64_t start, int signo);

#endif
