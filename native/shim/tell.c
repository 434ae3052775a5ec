#include "tell.h"

#include <errno.h>

void tell_mark(struct shim *s) {
  struct slot_mark mark = {.warnings = s->warnings, .cols = s->cols, .rows = s->rows};
  mark.index_dropped_from = s->index.dropped_from;
  mark.index_dropped_to = s->index.dropped_to;
  log_mark(&s->log, &mark);
  s->has_marks = 1;
  if (s->state.fd >= 0 && state_mark(&s->state, &mark)) s->warnings |= WARNING_STATE_FAILED;
}

static struct hint hint_of(const struct shim *s, enum hint_kind kind) {
  struct hint h = {.magic = HINT_MAGIC, .kind = (uint16_t)kind, .flags = (uint16_t)s->warnings};
  hint_set_id(&h, s->id);
  h.pid = (uint32_t)s->command.pid;
  h.start = s->command.start;
  h.log_end = s->log.end;
  h.at_ms = wall_us() / 1000;
  h.shim_pid = (uint32_t)s->pid;
  return h;
}

static void send_hints(struct shim *s, const struct hint *h, size_t count) {
  hints_tell(&s->hints, h, count);
  s->hint_due = hints_waiting(&s->hints) ? s->now_ms + HINT_RETRY_MS : 0;
}

void tell_started(struct shim *s, int error, uint32_t stage) {
  struct hint h = hint_of(s, HINT_STARTED);
  h.code = error;
  h.signal = stage;
  send_hints(s, &h, 1);
}

void tell_exited(struct shim *s) {
  struct hint h[2] = {hint_of(s, HINT_EXITED), hint_of(s, HINT_ENDED)};
  h[0].code = s->exit.code;
  h[0].signal = (uint32_t)s->exit.signal;
  h[0].reason = s->exit.reason;
  h[0].at_ms = s->exit.exited_at_ms;
  h[0].children = s->exit.children;
  int ended = s->phase == PHASE_ENDED;
  send_hints(s, h, ended ? 2 : 1);
  control_notice(s, NOTICE_EXITED | (ended ? NOTICE_ENDED : 0u));
}

void tell_ended(struct shim *s) {
  struct hint h = hint_of(s, HINT_ENDED);
  send_hints(s, &h, 1);
  control_notice(s, NOTICE_ENDED);
}

void tell_warning_due(struct shim *s) {
  struct hint h = hint_of(s, HINT_WARNING);
  s->warning_waits = 0;
  s->warned_ms = s->now_ms;
  send_hints(s, &h, 1);
  control_notice(s, NOTICE_WARNING);
}

void tell_warning(struct shim *s, uint32_t set, uint32_t clear) {
  uint32_t warnings = (s->warnings & ~clear) | set;
  if (warnings == s->warnings) return;
  s->warnings = warnings;
  tell_mark(s);
  if (!s->warned_ms || s->now_ms - s->warned_ms >= TELL_WARNING_MS) tell_warning_due(s);
  else s->warning_waits = 1;
}

void tell_log_changed(void *shim, int layout_changed) {
  struct shim *s = shim;
  if (layout_changed) {
    s->state.header.log_segment = s->log.segment;
    if (state_header(&s->state)) s->warnings |= WARNING_STATE_FAILED;
    tell_warning(s, WARNING_SEGMENTS, 0);
    return;
  }
  uint32_t before = s->warnings;
  if (s->log.is_failing) tell_if_gone(s, s->log.error == ENOENT); // no file can be made in a removed directory
  int is_full = s->log.is_failing && s->log.error != ENOENT;
  tell_warning(s, is_full ? WARNING_DISK_FULL : 0, is_full ? 0 : WARNING_DISK_FULL);
  if (s->warnings == before) tell_mark(s); // else tell_warning has done it
}

void tell_if_gone(struct shim *s, int now) {
  if (s->warnings & WARNING_RUN_DIR_GONE || (!now && s->now_ms - s->gone_checked_ms < 1000)) return;
  s->gone_checked_ms = s->now_ms;
  if (state_is_gone(&s->state)) tell_warning(s, WARNING_RUN_DIR_GONE, 0);
}
