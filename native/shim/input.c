#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int input_waiting(const struct input *in) { return in->queue.size > 0 && in->command->stdin_fd >= 0; }

int input_state(const struct input *in) {
  if (in->command->stdin_fd >= 0 && !in->close_wanted) return STDIN_OPEN;
  return in->taken || in->queued || in->close_wanted || in->error ? STDIN_CLOSED : STDIN_NULL;
}

// Answer whoever is done. An answer may not call back into this module.
static void answer_done(struct input *in, int error) {
  size_t kept = 0;
  for (size_t i = 0; i < in->waiters; i++) {
    struct input_waiter w = in->waiter[i];
    if (!error && w.until > in->taken) in->waiter[kept++] = w;
    else in->answer(in->owner, &w.who, w.until > in->taken ? error : 0, w.duplicate ? 0 : w.size, w.duplicate);
  }
  in->waiters = kept;
  if (kept) return;
  free(in->waiter);
  in->waiter = NULL;
  in->waiter_room = 0;
}

void input_fail(struct input *in, int error) {
  in->error = error;
  bytes_free(&in->queue);
  answer_done(in, error);
  command_close_stdin(in->command);
}

static void close_when_empty(struct input *in) {
  if (in->close_wanted && in->queue.size == 0) command_close_stdin(in->command);
}

// Returns how many bytes the kernel took, or -1 when nobody can read them any more.
static ssize_t give(struct input *in, const uint8_t *data, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = write(in->command->stdin_fd, data + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return -1;
    done += (size_t)n;
  }
  in->taken += done;
  return (ssize_t)done;
}

void input_flush(struct input *in) {
  if (!input_waiting(in)) return;
  ssize_t n = give(in, in->queue.data, in->queue.size);
  if (n < 0) {
    input_fail(in, EPIPE);
    return;
  }
  bytes_drop(&in->queue, (size_t)n);
  answer_done(in, 0);
  close_when_empty(in);
}

// Write what the kernel takes now, queue the rest. 0, or errno.
static int push(struct input *in, const uint8_t *data, size_t size) {
  ssize_t n = in->queue.size ? 0 : give(in, data, size);
  if (n < 0) return EPIPE;
  in->queued += size;
  bytes_add(&in->queue, data + n, size - (size_t)n);
  return in->queue.failed ? ENOMEM : 0;
}

int input_first(struct input *in, const uint8_t *data, size_t size, int close_after) {
  int error = size ? push(in, data, size) : 0;
  in->close_wanted = close_after && !in->command->is_terminal;
  if (error) input_fail(in, EPIPE);
  else close_when_empty(in);
  errno = error;
  return error ? -1 : 0;
}

static const struct input_id *find_id(const struct input *in, const uint8_t *id) {
  size_t known = in->ids_count < INPUT_IDS ? in->ids_count : INPUT_IDS;
  for (size_t i = 0; i < known; i++)
    if (memcmp(in->ids[i].id, id, sizeof in->ids[i].id) == 0) return &in->ids[i];
  return NULL;
}

static void remember_id(struct input *in, const uint8_t *id) {
  if (!in->ids) in->ids = calloc(INPUT_IDS, sizeof *in->ids);
  if (!in->ids) return;
  struct input_id *at = &in->ids[in->ids_count++ % INPUT_IDS];
  memcpy(at->id, id, sizeof at->id);
  at->until = in->queued;
}

static int wait_for(struct input *in, struct input_waiter w) {
  if (w.until <= in->taken) {
    in->answer(in->owner, &w.who, 0, w.duplicate ? 0 : w.size, w.duplicate);
    return 0;
  }
  in->waiter[in->waiters++] = w;
  return 0;
}

// On a terminal there is nothing to close: the end of input is a character (termios(3), VEOF).
static uint8_t end_character(const struct command *c) {
  struct termios t;
  return tcgetattr(c->stdin_fd, &t) ? 4 : t.c_cc[VEOF];
}

int input_write(struct input *in, const struct input_request *r) {
  const struct input_id *known = r->id ? find_id(in, r->id) : NULL;
  if (in->waiters == in->waiter_room) {
    size_t room = in->waiter_room ? in->waiter_room * 2 : 8;
    struct input_waiter *more = room > INPUT_WAITERS ? NULL : realloc(in->waiter, room * sizeof *more);
    if (!more) return EAGAIN;
    in->waiter = more;
    in->waiter_room = room;
  }
  if (known && known->until > in->taken && in->error) return in->error;
  if (known) return wait_for(in, (struct input_waiter){.who = r->who, .until = known->until, .duplicate = 1});
  if (in->command->stdin_fd < 0 || in->error) return EPIPE;
  if (in->close_wanted)
    return r->size ? EPIPE : wait_for(in, (struct input_waiter){.who = r->who, .until = in->queued});
  if (in->queue.size && in->queue.size + r->size > INPUT_QUEUE) return EAGAIN;

  int error = r->size ? push(in, r->data, r->size) : 0;
  if (!error && r->close && in->command->is_terminal) {
    uint8_t end = end_character(in->command);
    error = push(in, &end, 1);
  }
  if (error) {
    input_fail(in, error);
    return error;
  }
  if (r->id) remember_id(in, r->id);
  if (r->close && !in->command->is_terminal) in->close_wanted = 1;
  wait_for(in, (struct input_waiter){.who = r->who, .until = in->queued, .size = (uint32_t)r->size});
  close_when_empty(in);
  return 0;
}

void input_close(struct input *in) {
  bytes_free(&in->queue);
  free(in->waiter);
  free(in->ids);
  in->waiter = NULL;
  in->ids = NULL;
  in->waiters = in->waiter_room = in->ids_count = 0;
}
