#include "answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "look.h"

enum { PORTS_MAX = 256, COMMAND_MAX = 4096, SAMPLE_MAX_MS = 10000 };

static void add_log(const struct shim *s, struct bytes *out) {
  frame_number(out, FIELD_END, s->log.end);
  frame_number(out, FIELD_DROPPED_FROM, s->log.dropped_from);
  frame_number(out, FIELD_DROPPED_TO, s->log.dropped_to);
}

static void add_lost(const struct shim *s, struct bytes *out, uint64_t from, uint64_t to) {
  for (uint32_t i = 0; i < s->log.lost_count; i++)
    if (s->log.lost[i][0] < to && s->log.lost[i][1] > from)
      frame_bytes(out, FIELD_LOST, s->log.lost[i], sizeof s->log.lost[i]);
}

static void add_exit(const struct shim *s, struct bytes *out) {
  frame_number(out, FIELD_PHASE, s->phase);
  if (s->phase < PHASE_EXITED) return;
  const struct slot_exit *e = &s->exit;
  frame_number(out, FIELD_CODE, (uint64_t)(int64_t)e->code);
  frame_number(out, FIELD_SIGNAL, (uint64_t)e->signal);
  frame_number(out, FIELD_REASON, e->reason);
  frame_number(out, FIELD_EXITED_AT_MS, e->exited_at_ms);
  frame_number(out, FIELD_USER_US, e->user_us);
  frame_number(out, FIELD_SYSTEM_US, e->system_us);
  frame_number(out, FIELD_MAX_RSS, e->max_rss);
  frame_number(out, FIELD_READ_BYTES, e->read_bytes);
  frame_number(out, FIELD_WRITTEN_BYTES, e->written_bytes);
  if (e->detail[0]) frame_text(out, FIELD_TEXT, e->detail);
}

void answer_status(struct shim *s, struct bytes *out) {
  frame_text(out, FIELD_ID, s->id);
  frame_number(out, FIELD_PID, (uint64_t)s->command.pid);
  frame_number(out, FIELD_START, s->command.start);
  frame_number(out, FIELD_SHIM_PID, (uint64_t)s->pid);
  frame_number(out, FIELD_SHIM_START, s->state.header.shim_start);
  add_exit(s, out);
  add_log(s, out);
  add_lost(s, out, 0, UINT64_MAX);
  frame_number(out, FIELD_CHILDREN, family_children(s));
  frame_number(out, FIELD_WARNINGS, s->warnings);
  frame_number(out, FIELD_STDIN_STATE, (uint64_t)input_state(&s->input));
  frame_number(out, FIELD_COLS, s->cols);
  frame_number(out, FIELD_ROWS, s->rows);
  frame_number(out, FIELD_ENFORCED, s->limits.enforced);
}

void answer_notice(struct shim *s, struct bytes *out, unsigned notices) {
  frame_number(out, FIELD_NOTICE, notices);
  add_log(s, out);
  if (notices & (NOTICE_EXITED | NOTICE_ENDED)) {
    add_exit(s, out);
    frame_number(out, FIELD_CHILDREN, s->phase == PHASE_ENDED ? 0 : s->exit.children);
  }
  if (!(notices & NOTICE_WARNING)) return;
  frame_number(out, FIELD_WARNINGS, s->warnings);
  add_lost(s, out, 0, UINT64_MAX);
}

static void add_command(struct bytes *out, const char *command, size_t size) {
  if (out->size > ANSWER_COMMANDS && size > ANSWER_COMMAND_CUT) size = ANSWER_COMMAND_CUT;
  frame_bytes(out, FIELD_COMMAND, command, size > COMMAND_MAX ? COMMAND_MAX : size);
}

void answer_stop(struct shim *s, struct bytes *out) {
  for (size_t i = 0; i < s->stop.count; i++) {
    const struct stopped *one = &s->stop.list[i];
    size_t at = field_begin(out, FIELD_PROC);
    frame_number(out, FIELD_PID, (uint64_t)one->pid);
    frame_number(out, FIELD_START, one->start);
    if (one->command) add_command(out, one->command, strlen(one->command));
    if (one->gone) frame_number(out, FIELD_BY, (uint64_t)one->by);
    else frame_text(out, FIELD_WHY, one->why ? one->why : "still there");
    field_end(out, at);
  }
  // All that were met; more than are listed when it was a crowd.
  frame_number(out, FIELD_COUNT, s->stop.count + s->stop.more);
  add_exit(s, out);
  add_log(s, out);
}

static void add_tree(struct bytes *out, const struct proc *list, size_t count) {
  char command[COMMAND_MAX + 1];
  for (size_t i = 0; i < count; i++) {
    const struct proc *p = &list[i];
    size_t at = field_begin(out, FIELD_PROC);
    frame_number(out, FIELD_PID, (uint64_t)p->pid);
    frame_number(out, FIELD_PPID, (uint64_t)p->ppid);
    frame_number(out, FIELD_START, p->start);
    frame_number(out, FIELD_SESSION, (uint64_t)p->session);
    frame_bytes(out, FIELD_STATE, &p->state, 1);
    add_command(out, command, proc_command(p->pid, command, sizeof command));
    frame_number(out, FIELD_RSS, p->rss);
    field_end(out, at);
  }
}

static void add_usage(struct bytes *out, const struct proc *list, size_t count) {
  uint64_t rss = 0, user_us = 0, system_us = 0, in = 0, written = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t a, b;
    rss += list[i].rss;
    if (family_cpu(list[i].pid, &a, &b) == 0) user_us += a, system_us += b;
    if (family_io(list[i].pid, &a, &b) == 0) in += a, written += b;
  }
  frame_number(out, FIELD_RSS, rss);
  frame_number(out, FIELD_USER_US, user_us);
  frame_number(out, FIELD_SYSTEM_US, system_us);
  frame_number(out, FIELD_READ_BYTES, in);
  frame_number(out, FIELD_WRITTEN_BYTES, written);
}

static void add_ports(struct bytes *out, const struct proc *list, size_t count) {
  struct look_port *port = calloc(PORTS_MAX, sizeof *port);
  size_t ports = port ? look_ports(list, count, port, PORTS_MAX) : 0;
  for (size_t i = 0; i < ports; i++) {
    size_t at = field_begin(out, FIELD_PORT);
    frame_number(out, FIELD_PORT_NUMBER, port[i].port);
    frame_number(out, FIELD_PID, (uint64_t)port[i].pid);
    frame_text(out, FIELD_TEXT, port[i].address);
    field_end(out, at);
  }
  free(port);
}

void answer_look(struct shim *s, struct bytes *out, uint64_t what) {
  struct control *c = &s->control;
  size_t count;
  struct proc *list = family_list(s, &count);
  if (what & LOOK_TREE) add_tree(out, list, count);
  if (what & LOOK_ACTIVITY) {
    struct look_terminal t = {.master = s->command.is_terminal ? s->command.stdin_fd : -1,
                              .stdin_inode = s->command.stdin_inode};
    uint64_t elapsed = s->now_ms - c->before_ms;
    size_t before = elapsed > SAMPLE_MAX_MS ? 0 : c->before_count; // a busy minute ago says nothing about now
    frame_number(out, FIELD_ACTIVITY, (uint64_t)look_activity(&t, list, count, c->before, before, elapsed));
  }
  if (what & LOOK_PORTS) add_ports(out, list, count);
  if (what & LOOK_USAGE) add_usage(out, list, count);
  free(c->before);
  c->before = list;
  c->before_count = count;
  c->before_ms = s->now_ms;
}

int answer_read(struct shim *s, struct bytes *out, uint64_t from, size_t size) {
  const struct output_log *l = &s->log;
  if (from >= l->dropped_from && from < l->dropped_to) from = l->dropped_to;
  if (from < l->dropped_from && l->dropped_to > l->dropped_from && size > l->dropped_from - from)
    size = (size_t)(l->dropped_from - from);
  uint8_t *data = malloc(size ? size : 1);
  ssize_t n = data ? log_read(&s->log, from, data, size) : -1;
  int error = n < 0 ? errno : 0;
  if (!error) {
    frame_number(out, FIELD_FROM, from);
    frame_bytes(out, FIELD_DATA, data, (size_t)n);
    add_log(s, out);
    add_lost(s, out, from, from + (uint64_t)n);
  }
  free(data);
  return error;
}
