// stop.h: end everything below this shim, step by step, without ever blocking the shim's own loop.
//
// A stop is a list of steps (signal, then how long to wait). Each step signals every living descendant (SIGCONT follows
// a catchable signal, so that stopped ones can act). After the last step, or at once for KILL: kill by pidfd round by
// round until no child is left; from round STOP_FREEZE_AFTER on, freeze to a fixed point first, because a forker can
// outrun plain kills. What cannot be ended (EPERM, state D) is listed with why, after STOP_GIVE_UP_MS without progress.
// The owner calls stop_tick when the time that it returned has come and after every reap; it is done when stop_tick
// says so.
//
// A `struct stop` begins as all zeros. The owner sets `cgroup_kill_fd`, `include_root` and `root_start` before
// stop_begin (or leaves them zero); everything else is written by these functions only. The list is readable until the
// next stop_begin or stop_close. Freezing stops the owner's own children: it must wait without WUNTRACED, and with
// __WALL so that no kind of child is missed.
#ifndef DROVER_STOP_H
#define DROVER_STOP_H

#include "tree.h"

enum { STOP_STEPS = 8, STOP_FREEZE_AFTER = 4, STOP_GIVE_UP_MS = 10000, STOP_LISTED = 4096 };

struct stop_step {
  int signo;
  uint32_t wait_ms;
};
struct stopped {       // one process that this stop met
  pid_t pid;
  uint64_t start;
  int by;              // last signal sent, then what ended it; 0: it ended by itself
  int gone;            // 1 when it is proven gone (a zombie is gone: nothing of it can act any more)
  char *command;       // owned by the stop, NUL-ended
  const char *why;     // static text when it is still there, else NULL
  // private
  int asked;           // last signal of a step: what ended it when it exits by itself after that
  unsigned wave;       // step whose signal it got
  unsigned seen;       // listing that met it
  int refused;         // errno of the last signal that did not reach it
  int reaped;
  char state;
};
struct stop {
  int active;
  int reason;                          // end_reason
  struct stop_step step[STOP_STEPS];
  size_t steps, at;                    // at: the step under way
  uint64_t step_ms;                    // when it began
  unsigned rounds;                     // of killing
  uint64_t progress_ms;                // when something last ended
  struct stopped *list;                // grows up to STOP_LISTED; more are counted only
  size_t count, room, more;            // more: at least so many were met beside the listed ones
  int cgroup_kill_fd;                  // cgroup.kill of the leaf; 0 or -1: none
  int include_root;                    // 1: `root` is a watched process and is to be ended too. It is no subreaper and not ours to
                                       // reap: `children_left` is ignored and /proc alone tells who is gone
  uint64_t root_start;                 // with include_root: its start time
  // private
  struct proc *procs;                  // scratch of one listing
  size_t procs_room, frozen;           // frozen: length of the last listing of a freeze
  unsigned wave, listing, passes;      // passes: of the freeze under way
  int killing, progressed;
  uint64_t kill_ms, next_ms;
};

// Begin, or join one that is under way (whose remaining steps are replaced when the new ones are over sooner; its
// reason stays). Copies `step`.
void stop_begin(struct stop *s, const struct stop_step *step, size_t steps, int reason, uint64_t now_ms);

// Do what is due for descendants of `root`. Returns milliseconds until it wants to be called again, or -1 when it is
// done: nothing left, or given up (then `active` is 0; who is left has `gone` 0 and `why`). `children_left` is the
// owner's knowledge from wait(2): 0 means ECHILD. Calls that come sooner than asked for are cheap.
int stop_tick(struct stop *s, pid_t root, int children_left, uint64_t now_ms);

// The owner reaped `pid` with this wait status. May be called at any time, for any pid.
void stop_reaped(struct stop *s, pid_t pid, int status);

// Forget the list and free what it owns.
void stop_close(struct stop *s);

#endif
