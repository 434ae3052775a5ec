#include "request.h"

#include <errno.h>
#include <stdlib.h>

#include "answer.h"
#include "family.h"
#include "tell.h"

// The fields that requests use, each at most once but for the steps; what is missing is 0 or NULL.
struct request {
  uint32_t type, tag;
  uint64_t version_min, version_max, from, size, close, cols, rows, signo, scope, reason, what;
  const uint8_t *data, *write_id;
  size_t data_size;
  struct stop_step step[STOP_STEPS];
  size_t steps;
};

static uint64_t *number_of(struct request *r, uint16_t key) {
  switch (key) {
    case FIELD_VERSION_MIN: return &r->version_min;
    case FIELD_VERSION_MAX: return &r->version_max;
    case FIELD_FROM: return &r->from;
    case FIELD_SIZE: return &r->size;
    case FIELD_CLOSE: return &r->close;
    case FIELD_COLS: return &r->cols;
    case FIELD_ROWS: return &r->rows;
    case FIELD_SIGNAL: return &r->signo;
    case FIELD_SCOPE: return &r->scope;
    case FIELD_REASON: return &r->reason;
    case FIELD_WHAT: return &r->what;
    default: return NULL;
  }
}

static int parse_request(const struct frame *f, struct request *r) {
  struct field field;
  size_t at = 0;
  int more;
  *r = (struct request){.type = f->type, .tag = f->tag};
  while ((more = field_next(f, &at, &field)) > 0) {
    uint64_t step, *number = number_of(r, field.key);
    if (number && field_number(&field, number)) return EINVAL;
    if (field.key == FIELD_DATA) r->data = field.data, r->data_size = field.size;
    if (field.key == FIELD_WRITE_ID) {
      if (field.size != 16) return EINVAL;
      r->write_id = field.data;
    }
    if (field.key != FIELD_STEP) continue;
    if (field_number(&field, &step) || step >> 32 > 64 || !(step >> 32) || r->steps == STOP_STEPS) return EINVAL;
    r->step[r->steps++] = (struct stop_step){(int)(step >> 32), (uint32_t)step};
  }
  if (r->signo > 64 || r->scope > SCOPE_TREE || r->reason > REASON_NOT_OBSERVED || r->data_size > FRAME_DATA_MAX)
    return EINVAL;
  return more < 0 ? EINVAL : 0;
}

void request_refuse(struct connection *c, uint32_t tag, int error, const char *text) {
  size_t at = frame_begin(&c->out, FRAME_ERROR, tag);
  frame_number(&c->out, FIELD_ERRNO, (uint64_t)error);
  frame_text(&c->out, FIELD_TEXT, text);
  frame_end(&c->out, at);
}

static void hello(struct shim *s, struct connection *c, const struct request *r) {
  uint64_t version = r->version_max < DROVER_PROTOCOL_VERSION ? r->version_max : DROVER_PROTOCOL_VERSION;
  if (version < DROVER_PROTOCOL_OLDEST || version < r->version_min) {
    request_refuse(c, r->tag, EPROTONOSUPPORT, "no common version");
    c->ending = 1;
    return;
  }
  size_t at = frame_begin(&c->out, FRAME_HELLO_OK, r->tag);
  frame_number(&c->out, FIELD_VERSION, version);
  frame_text(&c->out, FIELD_ID, s->id);
  uint64_t features = FEATURE_STOP | FEATURE_LOOK | FEATURE_STDIN | FEATURE_READ;
  frame_number(&c->out, FIELD_FEATURES, features | (s->limits.leaf_fd >= 0 ? FEATURE_CGROUP : 0u));
  frame_end(&c->out, at);
  c->greeted = 1;
}

static void status(struct shim *s, struct connection *c, const struct request *r) {
  size_t at = frame_begin(&c->out, FRAME_STATUS_OK, r->tag);
  answer_status(s, &c->out);
  frame_end(&c->out, at);
  if (r->type != FRAME_SUBSCRIBE) return;
  if (!c->subscribed) s->control.subscribers++;
  c->subscribed = 1;
  c->subscription = r->tag;
  c->told_end = s->log.end;
  c->notices = 0;
}

static void read_log(struct shim *s, struct connection *c, const struct request *r) {
  size_t before = c->out.size, at = frame_begin(&c->out, FRAME_DATA, r->tag);
  int error = answer_read(s, &c->out, r->from, r->size > FRAME_DATA_MAX ? FRAME_DATA_MAX : (size_t)r->size);
  if (!error) {
    frame_end(&c->out, at);
    return;
  }
  c->out.size = before;
  request_refuse(c, r->tag, error, "the log cannot be read");
}

static void write_stdin(struct shim *s, struct connection *c, const struct request *r) {
  struct input_request q = {.data = r->data, .size = r->data_size, .id = r->write_id, .close = r->close != 0};
  q.who = (struct ticket){(uint32_t)(c - s->control.connection), c->generation, r->tag};
  int error = input_write(&s->input, &q);
  if (error)
    request_refuse(c, r->tag, error, error == EAGAIN ? "stdin is full: the command does not read" : "stdin is closed");
  else s->active_ms = s->now_ms;
  shim_poll_input(s);
}

static void resize(struct shim *s, struct connection *c, const struct request *r) {
  if (!r->cols || !r->rows || r->cols > UINT16_MAX || r->rows > UINT16_MAX) {
    request_refuse(c, r->tag, EINVAL, "no such size");
    return;
  }
  if (command_resize(&s->command, (uint32_t)r->cols, (uint32_t)r->rows)) {
    request_refuse(c, r->tag, errno, "it has no terminal");
    return;
  }
  s->cols = (uint32_t)r->cols;
  s->rows = (uint32_t)r->rows;
  tell_mark(s);
  frame_end(&c->out, frame_begin(&c->out, FRAME_OK, r->tag));
}

static void send_signal(struct shim *s, struct connection *c, const struct request *r) {
  uint32_t count = family_signal(s, (int)r->signo, (int)r->scope);
  if (!count) {
    request_refuse(c, r->tag, errno, errno == ESRCH ? "nobody is there" : "the signal was not sent");
    return;
  }
  if (r->signo) {
    s->user_signal = (int)r->signo;
    s->user_reason = r->reason ? (int)r->reason : REASON_SIGNALLED_BY_USER;
  }
  size_t at = frame_begin(&c->out, FRAME_SIGNAL_OK, r->tag);
  frame_number(&c->out, FIELD_COUNT, count);
  frame_end(&c->out, at);
}

static void stop_tree(struct shim *s, struct connection *c, const struct request *r) {
  struct control *k = &s->control;
  if (!k->stop_waiter) k->stop_waiter = calloc(CONTROL_STOP_WAITERS, sizeof *k->stop_waiter);
  if (!k->stop_waiter || k->stop_waiters == CONTROL_STOP_WAITERS) {
    request_refuse(c, r->tag, EAGAIN, "too many wait for this stop");
    return;
  }
  k->stop_waiter[k->stop_waiters++] = (struct ticket){(uint32_t)(c - k->connection), c->generation, r->tag};
  shim_stop(s, r->step, r->steps, r->reason ? (int)r->reason : REASON_STOPPED);
}

static void look(struct shim *s, struct connection *c, const struct request *r) {
  size_t at = frame_begin(&c->out, FRAME_LOOK_OK, r->tag);
  answer_look(s, &c->out, r->what);
  frame_end(&c->out, at);
}

void request_serve(struct shim *s, struct connection *c, const struct frame *f) {
  struct request r;
  int error = parse_request(f, &r);
  if (!c->greeted && (error || f->type != FRAME_HELLO)) {
    request_refuse(c, f->tag, EPROTO, "HELLO comes first");
    c->ending = 1;
    return;
  }
  if (error) {
    request_refuse(c, f->tag, error, "malformed request");
    return;
  }
  switch (f->type) {
    case FRAME_HELLO: hello(s, c, &r); break;
    case FRAME_STATUS:
    case FRAME_SUBSCRIBE: status(s, c, &r); break;
    case FRAME_READ: read_log(s, c, &r); break;
    case FRAME_STDIN: write_stdin(s, c, &r); break;
    case FRAME_RESIZE: resize(s, c, &r); break;
    case FRAME_SIGNAL: send_signal(s, c, &r); break;
    case FRAME_STOP: stop_tree(s, c, &r); break;
    case FRAME_LOOK: look(s, c, &r); break;
    default:
      if (f->flags & FRAME_REQUIRED) request_refuse(c, f->tag, ENOSYS, "unknown request");
  }
}
