#include "ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain.h"
#include "family.h"
#include "tell.h"

static uint64_t micros(struct timeval t) { return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec; }

// Why it ended, from what was observed. A program that catches TERM and exits 0 during a stop was still stopped.
static uint32_t reason_of(struct shim *s) {
  if (s->stop_reason) return (uint32_t)s->stop_reason;
  int signo = s->exit.signal;
  if (!signo) return REASON_NONE;
  if (s->user_signal == signo) return (uint32_t)s->user_reason;
  if (signo == SIGKILL && limits_oom_killed(&s->limits)) return REASON_OOM;
  switch (signo) {
    case SIGSEGV:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSYS:
    case SIGTRAP: return REASON_CRASHED;
    default: return REASON_SIGNALLED;
  }
}

static void record_exit(struct shim *s, int status, const struct rusage *used) {
  struct slot_exit *e = &s->exit;
  e->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  e->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  e->core_dumped = WIFSIGNALED(status) && WCOREDUMP(status);
  e->user_us = micros(used->ru_utime);
  e->system_us = micros(used->ru_stime);
  e->max_rss = (uint64_t)used->ru_maxrss * 1024;
  e->reason = reason_of(s);
  if (s->limit_why[0] && e->reason == REASON_LIMIT) snprintf(e->detail, sizeof e->detail, "%s", s->limit_why);
  else if (e->reason == REASON_OOM)
    snprintf(e->detail, sizeof e->detail, "the kernel killed it: the memory limit of its cgroup was reached");
}

// The bytes must be in the log, and the log's end in the slot, before the slot exists.
static void write_exit(struct shim *s) {
  drain_now(s);
  s->exit.exited_at_ms = wall_us() / 1000;
  s->exit.wall_us = clock_us() - s->started_us;
  s->exit.log_end = s->log.end;
  s->exit.children = family_children(s);
  s->phase = PHASE_EXITED;
  s->lifetime_due = s->idle_ms = 0;
}

static void write_end(struct shim *s) {
  drain_now(s);
  s->end.ended_at_ms = wall_us() / 1000;
  s->end.log_end = s->log.end;
  s->phase = PHASE_ENDED;
  s->limits_due = 0;
  s->linger_due = s->now_ms + LINGER_MS;
}

// A machine that loses power within the second has lost the work of so short a command too.
static int is_worth_a_sync(const struct shim *s) {
  return s->exit.wall_us >= SYNC_AFTER_MS * 1000ull && !(s->warnings & WARNING_RUN_DIR_GONE);
}

void ending_sync(const struct shim *s) {
  if (is_worth_a_sync(s)) fdatasync(s->state.fd);
}

static void publish(struct shim *s, int exited, int ended) {
  if (exited) write_exit(s);
  if (ended) write_end(s);
  tell_if_gone(s, 1);
  if (s->has_marks) tell_mark(s);
  int failed = exited ? state_exit(&s->state, &s->exit, ended ? &s->end : NULL) : state_end(&s->state, &s->end);
  if (failed) s->warnings |= WARNING_STATE_FAILED;
  if (exited) tell_exited(s);
  else tell_ended(s);
  if (!ended && is_worth_a_sync(s)) sync_file_range(s->state.fd, 0, STATE_SIZE, SYNC_FILE_RANGE_WRITE); // only begins
}

void ending_reap(struct shim *s) {
  int exited = 0;
  struct rusage used;
  for (int status;;) {
    siginfo_t info = {0};
    // Look before reaping: a zombie's /proc entry still tells what it read and wrote.
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL)) {
      if (errno == EINTR) continue;
      s->children_left = 0; // ECHILD
      break;
    }
    pid_t pid = info.si_pid;
    if (pid == 0) break;
    int is_command = pid == s->command.pid && s->watch_fd < 0 && s->phase < PHASE_EXITED;
    if (is_command) family_io(pid, &s->exit.read_bytes, &s->exit.written_bytes);
    if (wait4(pid, &status, __WALL, &used) != pid) continue;
    stop_reaped(&s->stop, pid, status);
    s->end.reaped++;
    s->end.user_us += micros(used.ru_utime);
    s->end.system_us += micros(used.ru_stime);
    if (is_command) {
      record_exit(s, status, &used);
      exited = 1;
    }
  }
  int ended = !s->children_left && (exited || s->phase == PHASE_EXITED);
  if (exited || ended) publish(s, exited, ended);
  if (s->stop.active) s->stop_due = s->now_ms; // it may be done
}

void ending_watched(struct shim *s) {
  if (s->phase >= PHASE_EXITED) return;
  struct slot_exit *e = &s->exit;
  e->code = -1;
  e->reason = REASON_NOT_OBSERVED;
  snprintf(e->detail, sizeof e->detail, "exit code of a process that is not our child cannot be known");
  s->children_left = 0;
  close(s->watch_fd);
  s->watch_fd = -1;
  publish(s, 1, 1);
  if (s->stop.active) s->stop_due = s->now_ms;
}
