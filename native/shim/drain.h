// drain.h: take the command's output from its pipes or terminal into the log.
//
// Fair: one turn takes at most DRAIN_TURN bytes of a stream, then requests and timers have theirs, however fast it
// prints.
#ifndef DROVER_DRAIN_H
#define DROVER_DRAIN_H

#include "shim.h"

enum { DRAIN_TURN = 256 << 10, DRAIN_LAST = 1 << 20, BUFFER_REST_MS = 1000 };

void drain_register(struct shim *s);         // with epoll, at the start
void drain_turn(struct shim *s, int stream); // it is readable

// Take what is there at this moment, of both streams: a pipe holds 64 KiB, so DRAIN_LAST is beyond every honest writer,
// and one who goes on printing cannot hold up the exit of the command.
void drain_now(struct shim *s);

void drain_rest(struct shim *s); // give the buffer's memory back after a burst

#endif
