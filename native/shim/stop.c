// stop.c: see stop.h. Two phases: the steps (signal, wait), then killing (rounds of SIGKILL, frozen ones from some
// round on). Each tick lists the tree, books who is new and who is gone, and does what the phase wants.
#define _GNU_SOURCE
#include "stop.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  GRACE_POLL_MS = 50,       // newcomers are met and the last end is noticed at least so often (a reap tells sooner)
  WATCHED_POLL_MS = 10,     // a watched tree has no reaps that would tell
  KILL_POLL_MS = 1,         // between rounds; rises to KILL_POLL_MAX_MS when they achieve nothing
  KILL_POLL_MAX_MS = 20,
  TICK_WORK_MS = 15,        // of freezing, then the shim's other work has its turn
  FREEZE_PASSES = 50,       // then kill what there is
  PROCS_FIRST = 512,
  PROCS_MOST = 1 << 17,
  COMMAND_MAX = 4096,
  KILLING_MAX_MS = 3 * STOP_GIVE_UP_MS, // one that cannot be killed may have ever new children, which would count as progress
};

static uint64_t clock_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int alive(char state) { return state != 'Z' && state != 'X'; }
static int halted(char state) { return state == 'T' || state == 't'; }

// ---- The list of those met ------------------------------------------------------------------------------------------------

static void forget(struct stop *s) {
  for (size_t i = 0; i < s->count; i++) free(s->list[i].command);
  free(s->list);
  free(s->procs);
  s->list = NULL, s->procs = NULL;
  s->count = s->room = s->more = s->procs_room = 0;
}

// Listings repeat in nearly the same order, so the search goes on from the last hit.
static struct stopped *find(struct stop *s, const struct proc *p, size_t *cursor) {
  for (size_t i = 0; i < s->count; i++) {
    size_t at = (*cursor + i) % s->count;
    if (s->list[at].pid == p->pid && s->list[at].start == p->start) {
      *cursor = at + 1;
      return &s->list[at];
    }
  }
  return NULL;
}

static struct stopped *meet(struct stop *s, const struct proc *p) {
  if (s->count == STOP_LISTED) return NULL;
  if (s->count == s->room) {
    size_t room = s->room ? s->room * 2 : 32;
    struct stopped *list = realloc(s->list, room * sizeof *list);
    if (!list) return NULL;
    s->list = list, s->room = room;
  }
  char command[COMMAND_MAX + 1];
  proc_command(p->pid, command, sizeof command);
  struct stopped *one = &s->list[s->count++];
  *one = (struct stopped){.pid = p->pid, .start = p->start, .command = strdup(command)};
  return one;
}

static void mark_gone(struct stop *s, struct stopped *one) {
  if (one->gone) return;
  one->gone = 1;
  s->progressed = 1;
}

// ---- Listing --------------------------------------------------------------------------------------------------------------

// List below `root` from entry `from` of the scratch on; returns how many there are then.
static size_t list_below(struct stop *s, pid_t root, size_t from) {
  for (;;) {
    if (s->procs_room - from > 1) {
      size_t n = tree_list(root, s->procs + from, s->procs_room - from);
      if (from + n < s->procs_room || s->procs_room >= PROCS_MOST) return from + n;
    }
    size_t room = s->procs_room ? s->procs_room * 2 : PROCS_FIRST;
    struct proc *procs = realloc(s->procs, room * sizeof *procs);
    if (!procs) return from;
    s->procs = procs, s->procs_room = room;
  }
}

// Book what a part of the scratch shows. Returns how many are alive but not in the list (there is no room).
static size_t book(struct stop *s, size_t from, size_t to) {
  size_t cursor = 0, unlisted = 0;
  for (size_t i = from; i < to; i++) {
    const struct proc *p = &s->procs[i];
    struct stopped *one = find(s, p, &cursor);
    if (!one && alive(p->state) && !(one = meet(s, p))) unlisted++;
    if (!one) continue;
    one->seen = s->listing;
    one->state = p->state;
    if (!alive(p->state)) mark_gone(s, one);
  }
  return unlisted;
}

// Bring scratch and list up to date. Returns the number of entries in the scratch; `living` is how many of all are
// alive.
static size_t refresh(struct stop *s, pid_t root, size_t *living) {
  size_t n = 0, unlisted;
  s->listing++;
  n = list_below(s, root, 0);
  if (s->include_root && n < s->procs_room) {
    struct proc *p = &s->procs[n];
    if (!proc_read(root, p) && p->start == s->root_start) n++;
    else n = 0; // somebody else has its number now: these are not ours
  }
  unlisted = book(s, 0, n);
  // Not met is not gone: a listing of a running tree has gaps, and below a watched process orphans leave the tree.
  for (size_t i = 0; i < s->count; i++) {
    struct stopped *one = &s->list[i];
    struct proc p;
    if (one->gone || one->seen == s->listing) continue;
    if (proc_read(one->pid, &p) || p.start != one->start || !alive(p.state)) {
      mark_gone(s, one);
      continue;
    }
    size_t from = n;
    if (s->include_root) n = list_below(s, one->pid, from);
    if (n < s->procs_room) s->procs[n++] = p;
    unlisted += book(s, from, n);
  }
  *living = unlisted;
  for (size_t i = 0; i < s->count; i++) *living += !s->list[i].gone;
  if (unlisted > s->more) s->more = unlisted;
  return n;
}

// ---- Signals --------------------------------------------------------------------------------------------------------------

static int hit(struct stop *s, pid_t root, const struct proc *p, int signo) {
  return s->include_root ? proc_signal(p->pid, p->start, signo) : tree_signal(root, p->pid, p->start, signo);
}

static void hit_and_book(struct stop *s, pid_t root, const struct proc *p, struct stopped *one, int signo) {
  int refused = hit(s, root, p, signo) ? errno : 0;
  if (!one) return;
  one->refused = refused;
  if (refused || signo == SIGSTOP) return;
  one->by = signo;
  if (signo != SIGKILL) one->asked = signo;
}

// The signal of a step, once to everybody, also to those who come later. Who has no place in the list gets it when the
// step begins.
static void send_step(struct stop *s, pid_t root, size_t n, int signo, int begins) {
  size_t cursor = 0;
  for (size_t i = 0; i < n; i++) {
    const struct proc *p = &s->procs[i];
    if (!alive(p->state)) continue;
    struct stopped *one = find(s, p, &cursor);
    if (one ? one->wave == s->wave : !begins) continue;
    if (one) one->wave = s->wave;
    hit_and_book(s, root, p, one, signo);
    if (signo != SIGSTOP && signo != SIGCONT) hit(s, root, p, SIGCONT); // a stopped one acts on it only when it goes on
  }
}

static void kill_all(struct stop *s, pid_t root, size_t n) {
  size_t cursor = 0;
  for (size_t i = 0; i < n; i++) {
    const struct proc *p = &s->procs[i];
    if (alive(p->state)) hit_and_book(s, root, p, find(s, p, &cursor), SIGKILL);
  }
}

// One pass of freezing. Returns how many were not yet seen stopped. The children of stopped tasks are listed exactly,
// and a pending signal makes fork fail (copy_process in kernel/fork.c), so a fixed point comes soon: two listings of
// the same length, in the second of which all are stopped. The same length, because one who forked and ended while it
// was listed is a zombie that looks harmless.
static size_t freeze_pass(struct stop *s, pid_t root, size_t n) {
  size_t moving = 0;
  for (size_t i = 0; i < n; i++) {
    const struct proc *p = &s->procs[i];
    if (!alive(p->state) || halted(p->state)) continue;
    int refused = hit(s, root, p, SIGSTOP) ? errno : 0;
    // Nobody waits for who may not be stopped, nor for state D: vfork's parent, or stuck; neither can fork. ESRCH: it
    // ended, maybe after it forked.
    if (refused != EPERM && p->state != 'D') moving++;
  }
  return moving;
}

// ---- Phases ---------------------------------------------------------------------------------------------------------------

static void begin_killing(struct stop *s, uint64_t now_ms) {
  if (s->killing) return;
  s->killing = 1;
  s->kill_ms = s->progress_ms = now_ms;
}

// Milliseconds until everybody gets SIGKILL by the steps from `at` on.
static uint64_t steps_last(const struct stop_step *step, size_t steps, size_t at) {
  uint64_t total = 0;
  for (; at < steps && step[at].signo != SIGKILL; at++) total += step[at].wait_ms;
  return total;
}

static int finish(struct stop *s) {
  s->active = 0;
  for (size_t i = 0; i < s->count; i++) {
    struct stopped *one = &s->list[i];
    if (one->gone) continue;
    one->why = one->refused == EPERM ? "not permitted: runs as another user"
               : one->state == 'D'   ? "in uninterruptible sleep"
                                     : "did not end after SIGKILL";
  }
  free(s->procs);
  s->procs = NULL, s->procs_room = 0;
  return -1;
}

static int again(struct stop *s, uint64_t now_ms, uint64_t after_ms) {
  s->next_ms = now_ms + after_ms;
  return (int)after_ms;
}

// Do what the steps want. Returns the time to wait, or 0 when it is time to kill.
static uint64_t tick_steps(struct stop *s, pid_t root, size_t n, uint64_t now_ms) {
  int begins = 0;
  if (!s->wave) begins = 1, s->wave = 1, s->step_ms = now_ms;
  while (s->at < s->steps && s->step[s->at].signo != SIGKILL) {
    const struct stop_step *step = &s->step[s->at];
    send_step(s, root, n, step->signo, begins);
    uint64_t ends_ms = s->step_ms + step->wait_ms;
    if (now_ms < ends_ms) return ends_ms - now_ms;
    s->at++, s->wave++, s->step_ms = now_ms, begins = 1;
  }
  return 0;
}

static int tick_kill(struct stop *s, pid_t root, size_t n, uint64_t now_ms) {
  uint64_t began_ms = clock_ms();
  // Orphans of a watched process cannot be found again, so there it is frozen from the first round on.
  if (s->include_root || s->rounds >= STOP_FREEZE_AFTER) {
    size_t living;
    for (;;) {
      size_t moving = freeze_pass(s, root, n), before = s->frozen;
      s->frozen = n;
      if ((!moving && n == before) || ++s->passes >= FREEZE_PASSES) break;
      if (clock_ms() - began_ms >= TICK_WORK_MS) return again(s, now_ms, KILL_POLL_MS);
      sched_yield();
      n = refresh(s, root, &living);
    }
    s->passes = 0, s->frozen = 0;
  }
  s->rounds++;
  if (s->cgroup_kill_fd > 0 && write(s->cgroup_kill_fd, "1", 1) < 0) s->cgroup_kill_fd = -1; // the sweep does without
  kill_all(s, root, n);
  uint64_t idle = (now_ms - s->progress_ms) / 50, cost = clock_ms() - began_ms;
  uint64_t after = idle + cost > KILL_POLL_MAX_MS ? KILL_POLL_MAX_MS : idle + cost;
  return again(s, now_ms, after > KILL_POLL_MS ? after : KILL_POLL_MS);
}

// ---- Door -----------------------------------------------------------------------------------------------------------------

void stop_begin(struct stop *s, const struct stop_step *step, size_t steps, int reason, uint64_t now_ms) {
  if (steps > STOP_STEPS) steps = STOP_STEPS; // killing follows in any case
  if (s->active) {
    uint64_t left = steps_last(s->step, s->steps, s->at), gone = s->wave ? now_ms - s->step_ms : 0;
    left = left > gone ? left - gone : 0;
    if (s->killing || steps_last(step, steps, 0) >= left) return;
    if (s->wave) s->wave++; // those who got a signal of the old steps get the new ones too
  } else {
    forget(s);
    s->active = 1, s->reason = reason, s->rounds = s->passes = 0, s->frozen = 0, s->killing = s->progressed = 0;
    s->wave = s->listing = 0;
  }
  if (steps) memcpy(s->step, step, steps * sizeof *step);
  s->steps = steps, s->at = 0, s->step_ms = s->progress_ms = now_ms, s->next_ms = 0;
}

int stop_tick(struct stop *s, pid_t root, int children_left, uint64_t now_ms) {
  if (!s->active) return -1;
  if (!children_left && !s->include_root) { // wait(2) has the last word
    for (size_t i = 0; i < s->count; i++) mark_gone(s, &s->list[i]);
    return finish(s);
  }
  if (now_ms < s->next_ms) return (int)(s->next_ms - now_ms);
  uint64_t began_ms = clock_ms();
  size_t living, n = refresh(s, root, &living);
  if (s->progressed) s->progressed = 0, s->progress_ms = now_ms;
  if (s->include_root && !living) return finish(s);

  if (!s->killing) {
    uint64_t left = tick_steps(s, root, n, now_ms);
    if (left) {
      uint64_t poll = s->include_root ? WATCHED_POLL_MS : GRACE_POLL_MS, cost = (clock_ms() - began_ms) * 10;
      if (cost > poll) poll = cost; // a tree of thousands takes long to list: at most a tenth of the time goes into that
      return again(s, now_ms, left < poll ? left : poll);
    }
    begin_killing(s, now_ms);
  }
  if (now_ms - s->progress_ms >= STOP_GIVE_UP_MS || now_ms - s->kill_ms >= KILLING_MAX_MS) return finish(s);
  if (!living) return again(s, now_ms, KILL_POLL_MS); // the owner has zombies to reap, or the listing had a gap
  return tick_kill(s, root, n, now_ms);
}

void stop_reaped(struct stop *s, pid_t pid, int status) {
  if (!s->active) return;
  s->progressed = 1;
  for (size_t i = s->count; i-- > 0;) { // from the end: the youngest that had this pid
    struct stopped *one = &s->list[i];
    if (one->pid != pid) continue;
    if (one->reaped) return;
    one->reaped = one->gone = 1;
    one->by = WIFSIGNALED(status) ? WTERMSIG(status) : one->asked;
    return;
  }
}

void stop_close(struct stop *s) {
  forget(s);
  s->active = 0;
}
