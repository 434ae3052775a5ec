#include "connection.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECEIVE = 4096 };

int connection_receive(struct connection *c) {
  size_t want = RECEIVE;
  uint32_t announced;
  if (c->in.size >= sizeof announced) { // a large request is read into its place at once
    __builtin_memcpy(&announced, c->in.data, sizeof announced);
    if (announced < CONTROL_REQUEST && announced + sizeof announced > c->in.size + want)
      want = announced + sizeof announced - c->in.size;
  }
  if (bytes_reserve(&c->in, want)) return -1;
  ssize_t n;
  do n = recv(c->fd, c->in.data + c->in.size, c->in.room - c->in.size, MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n > 0) c->in.size += (size_t)n;
  else if (c->in.size == 0) bytes_free(&c->in);
  if (n > 0) return 1;
  return n < 0 && errno == EAGAIN ? 0 : -1;
}

int connection_next(struct connection *c, size_t *at, struct frame *out) {
  if (c->in.size == *at) return 0;
  long size = frame_parse(c->in.data + *at, c->in.size - *at, CONTROL_REQUEST, out);
  if (size <= 0) return (int)size;
  *at += (size_t)size;
  return 1;
}

int connection_send(struct connection *c) {
  if (c->out.failed || c->out.size > CONTROL_DROP) return -1;
  size_t sent = 0;
  while (sent < c->out.size) {
    ssize_t n = send(c->fd, c->out.data + sent, c->out.size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return -1;
    sent += (size_t)n;
  }
  if (sent) bytes_drop(&c->out, sent);
  return c->ending && c->out.size == 0 ? -1 : 0;
}

uint32_t connection_events(const struct connection *c) {
  uint32_t in = c->ending || c->out.size > CONTROL_ANSWERS ? 0 : EPOLLIN;
  return in | (c->out.size ? EPOLLOUT : 0);
}

void connection_close(struct connection *c) {
  close(c->fd);
  bytes_free(&c->in);
  bytes_free(&c->out);
  c->fd = -1;
  c->subscribed = 0;
  c->events = 0;
}
