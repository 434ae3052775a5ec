// control.h: the socket `ctl` in the run directory and everybody who is connected to it.
//
// Requests are answered in the order in which they are done, paired by tag. Nobody can make the shim hold unbounded
// memory: a request is at most CONTROL_REQUEST bytes, no request is read from a connection that has CONTROL_ANSWERS
// bytes unread, growth notices are a flag until they can be sent, and a connection whose late answers pass CONTROL_DROP
// is closed. Memory of a connection is allocated when bytes come and freed when none are left.
// control.c listens and tells; request.c serves; connection.c moves bytes.
#ifndef DROVER_CONTROL_H
#define DROVER_CONTROL_H

#include "connection.h"
#include "input.h"

enum {
  CONTROL_CONNECTIONS = 64,
  CONTROL_STOP_WAITERS = 256,
  CONTROL_GREW_MS = 2, // between two growth notices
};

struct shim;

struct control {
  int listen_fd;                 // -1: none
  struct connection *connection; // CONTROL_CONNECTIONS of them from the first accept on
  uint32_t open, subscribers;
  uint32_t generation;
  struct ticket *stop_waiter;
  size_t stop_waiters;
  uint64_t grew_ms;    // when growth was last told
  int unsent;          // late answers were added
  int grew_waits;      // somebody has not been told of the newest end
  struct proc *before; // the last look, to tell busy from sleeping
  size_t before_count;
  uint64_t before_ms;
};

void control_open(struct shim *s); // makes and listens on `ctl`; without it the shim works on, unreachable
void control_accept(struct shim *s);
void control_event(struct shim *s, uint32_t slot, uint32_t generation, uint32_t events);

// Tell subscribers: bits of enum notice. Growth is told at most every CONTROL_GREW_MS; the rest at once.
void control_notice(struct shim *s, unsigned notices);
void control_grew(struct shim *s);

// Every waiting FRAME_STOP gets its answer.
void control_answer_stop(struct shim *s);

// The answer callback of input.h; control_flush sends what it added.
void control_answer_stdin(void *shim, const struct ticket *who, int error, uint32_t size, int duplicate);
void control_flush(struct shim *s);

void control_close(struct shim *s); // hangs up on everybody; `ctl` itself stays, and answers ECONNREFUSED from then on

#endif
