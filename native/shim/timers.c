#include "timers.h"

#include <signal.h>
#include <stdlib.h>

#include "drain.h"
#include "family.h"
#include "tell.h"

static int is_due(const struct shim *s, uint64_t due) { return due && due <= s->now_ms; }

static void end_tree(struct shim *s, int reason) {
  struct stop_step steps[] = {{SIGTERM, s->grace_ms}, {SIGKILL, 0}};
  shim_stop(s, steps, 2, reason);
}

static uint64_t idle_due(const struct shim *s) { return s->idle_ms ? s->active_ms + s->idle_ms : 0; }

static void watch_limits(struct shim *s) {
  size_t count;
  struct proc *list = family_list(s, &count);
  struct stop_step kill_now = {SIGKILL, 0};
  s->limits_due = s->now_ms + LIMITS_EVERY_MS;
  if (limits_exceeded(&s->limits, list, count, s->limit_why, sizeof s->limit_why)) {
    s->limits_due = 0;
    shim_stop(s, &kill_now, 1, REASON_LIMIT);
  }
  free(list);
}

static void go_on_with_stop(struct shim *s) {
  pid_t root = s->stop.include_root ? s->command.pid : s->pid;
  int wait = stop_tick(&s->stop, root, s->children_left, s->now_ms);
  s->stop_due = wait < 0 ? 0 : s->now_ms + (uint64_t)wait;
  if (wait >= 0) return;
  control_answer_stop(s);
  stop_close(&s->stop);
  if (limits_watched(&s->limits) && s->phase < PHASE_ENDED) s->limits_due = s->now_ms + LIMITS_EVERY_MS;
}

void timers_run(struct shim *s) {
  if (is_due(s, s->lifetime_due)) {
    s->lifetime_due = 0;
    end_tree(s, REASON_TIMEOUT);
  }
  if (is_due(s, idle_due(s))) {
    s->idle_ms = 0;
    end_tree(s, REASON_IDLE_TIMEOUT);
  }
  if (is_due(s, s->limits_due)) watch_limits(s);
  if (is_due(s, s->stop_due)) go_on_with_stop(s);
  if (is_due(s, s->hint_due)) {
    hints_retry(&s->hints);
    s->hint_due = hints_waiting(&s->hints) ? s->now_ms + HINT_RETRY_MS : 0;
  }
  if (is_due(s, s->buffer_due)) drain_rest(s);
  if (s->warning_waits && is_due(s, s->warned_ms + TELL_WARNING_MS)) tell_warning_due(s);
  if (s->control.grew_waits && is_due(s, s->control.grew_ms + CONTROL_GREW_MS)) control_grew(s);
}

int timers_wait(const struct shim *s) {
  uint64_t due[] = {s->lifetime_due,
                    idle_due(s),
                    s->limits_due,
                    s->stop_due,
                    s->hint_due,
                    s->linger_due,
                    s->buffer_due,
                    s->warning_waits ? s->warned_ms + TELL_WARNING_MS : 0,
                    s->control.grew_waits ? s->control.grew_ms + CONTROL_GREW_MS : 0};
  uint64_t first = UINT64_MAX;
  for (size_t i = 0; i < sizeof due / sizeof *due; i++)
    if (due[i] && due[i] < first) first = due[i];
  if (first == UINT64_MAX) return -1;
  if (first <= s->now_ms) return 0;
  return first - s->now_ms > INT32_MAX ? INT32_MAX : (int)(first - s->now_ms);
}
