#include "drain.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tell.h"

void drain_register(struct shim *s) {
  if (s->command.is_terminal) shim_poll_input(s);
  else
    for (int i = 0; i < STREAMS; i++)
      if (s->command.stream[i] >= 0)
        shim_poll(s, s->command.stream[i], 0, EPOLLIN, shim_poll_data(SOURCE_OUTPUT, 0, (uint32_t)i));
}

static void store(struct shim *s, int stream, const uint8_t *data, size_t size) {
  uint64_t from = s->log.end;
  log_write(&s->log, data, size);
  index_add(&s->index, from, stream + 1, wall_us());
  if (s->index.failed) tell_warning(s, WARNING_INDEX_FAILED, 0);
  else if (s->warnings & WARNING_INDEX_FAILED) tell_warning(s, 0, WARNING_INDEX_FAILED);
  if (size > 4096) s->buffer_due = s->now_ms + BUFFER_REST_MS;
  s->active_ms = s->now_ms;
}

// A terminal that nobody has open reads as EIO, yet a descendant may open it again: wait for that without being woken
// by the hang-up that stays (shim_poll_input makes it edge-triggered). A pipe at its end is closed.
static void set_end(struct shim *s, int stream, int at_end) {
  if (s->command.is_terminal) {
    s->terminal_hung_up = at_end;
    shim_poll_input(s);
  } else if (at_end) {
    command_close_stream(&s->command, stream);
  }
}

// Returns 1 when the stream is at its end.
static int take(struct shim *s, int stream, size_t most) {
  for (size_t taken = 0; taken < most;) {
    ssize_t n = read(s->command.stream[stream], s->host->buffer, HOST_BUFFER);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return 0;
    if (n <= 0) return 1;
    store(s, stream, s->host->buffer, (size_t)n);
    taken += (size_t)n;
    // A short read of a pipe took all there was; of a terminal it may be one line.
    if (n < HOST_BUFFER / 2 && !s->command.is_terminal && most != DRAIN_LAST) return 0;
  }
  return 0;
}

void drain_turn(struct shim *s, int stream) {
  if (s->command.stream[stream] < 0) return;
  set_end(s, stream, take(s, stream, DRAIN_TURN));
  tell_if_gone(s, 0);
  control_grew(s);
}

void drain_now(struct shim *s) {
  for (int i = 0; i < STREAMS; i++)
    if (s->command.stream[i] >= 0) set_end(s, i, take(s, i, DRAIN_LAST));
}

void drain_rest(struct shim *s) {
  madvise(s->host->buffer, HOST_BUFFER, MADV_DONTNEED);
  s->buffer_due = 0;
}
