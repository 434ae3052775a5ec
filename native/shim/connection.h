// connection.h: one client of the control socket: bytes in, bytes out, never blocking.
#ifndef DROVER_CONNECTION_H
#define DROVER_CONNECTION_H

#include "frame.h"

enum {
  CONTROL_REQUEST = 1 << 20,
  CONTROL_ANSWERS = 1 << 20,
  CONTROL_DROP = 32 << 20,
  NOTICE_UNREAD = 16 << 10, // notices wait while more than this is unread
};

struct connection {
  int fd;              // -1: free
  uint32_t generation; // tells this client from the next one in the same place
  uint32_t events;     // registered with epoll
  struct bytes in, out;
  int greeted; // HELLO was answered
  int ending;  // close once `out` is sent
  int subscribed;
  uint32_t subscription; // tag
  unsigned notices;      // to be told, bits of enum notice
  uint64_t told_end;     // of the log
  uint64_t told_ms;      // when
};

// Read once. 1: something came, 0: nothing now, -1: the client is gone or out of bounds.
int connection_receive(struct connection *c);

// The next whole request in `in` from *at on: 1, 0 when there is none, -1 when it is garbage.
int connection_next(struct connection *c, size_t *at, struct frame *out);

// Send what fits. 0, or -1 when the client is gone or reads nothing.
int connection_send(struct connection *c);

uint32_t connection_events(const struct connection *c); // what to wait for
void connection_close(struct connection *c);

#endif
