#include "control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "answer.h"
#include "request.h"

void control_open(struct shim *s) {
  // Relative to the run directory: the 108 bytes of a socket path never bite.
  struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "ctl"};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  s->control.listen_fd = fd;
  if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 64) == 0) return;
  if (fd >= 0) close(fd);
  s->control.listen_fd = -1;
}

static void drop(struct shim *s, struct connection *c) {
  if (c->subscribed) s->control.subscribers--;
  connection_close(c);
  s->control.open--;
}

// Tell one subscriber what it does not know yet, in one frame; whoever does not read is told later, and then only the
// newest.
static void notify(struct shim *s, struct connection *c) {
  if (!c->subscribed || c->out.size > NOTICE_UNREAD) return;
  int grew = c->told_end != s->log.end;
  if (!c->notices && !grew) return;
  if (!c->notices && s->now_ms - c->told_ms < CONTROL_GREW_MS) {
    s->control.grew_waits = 1;
    return;
  }
  size_t at = frame_begin(&c->out, FRAME_NOTICE, c->subscription);
  answer_notice(s, &c->out, c->notices | (grew ? NOTICE_GREW : 0u));
  frame_end(&c->out, at);
  c->notices = 0;
  c->told_end = s->log.end;
  c->told_ms = s->now_ms;
}

// Send what can be sent, then wait for the right events. The connection may be gone after this.
static void settle(struct shim *s, struct connection *c) {
  int failed = connection_send(c); // first what is old: notices may have waited for it
  notify(s, c);
  if (failed || (c->out.size && connection_send(c))) {
    drop(s, c);
    return;
  }
  uint32_t events = connection_events(c), slot = (uint32_t)(c - s->control.connection);
  if (events != c->events)
    shim_poll(s, c->fd, c->events, events, shim_poll_data(SOURCE_CONNECTION, c->generation, slot));
  c->events = events;
}

static struct connection *find(struct shim *s, uint32_t slot, uint32_t generation) {
  if (!s->control.connection || slot >= CONTROL_CONNECTIONS) return NULL;
  struct connection *c = &s->control.connection[slot];
  return c->fd >= 0 && c->generation == generation ? c : NULL;
}

static struct connection *free_place(struct control *k) {
  if (!k->connection) {
    k->connection = calloc(CONTROL_CONNECTIONS, sizeof *k->connection);
    for (int i = 0; k->connection && i < CONTROL_CONNECTIONS; i++) k->connection[i].fd = -1;
  }
  for (int i = 0; k->connection && i < CONTROL_CONNECTIONS; i++)
    if (k->connection[i].fd < 0) return &k->connection[i];
  return NULL;
}

void control_accept(struct shim *s) {
  struct control *k = &s->control;
  int fd = accept4(k->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  struct ucred peer = {0};
  socklen_t size = sizeof peer;
  int known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == s->host->uid || peer.uid == 0);
  struct connection *c = known ? free_place(k) : NULL;
  if (!c) {
    close(fd);
    return;
  }
  *c = (struct connection){.fd = fd, .generation = ++k->generation & 0xffffff};
  k->open++;
  settle(s, c);
}

static void notify_all(struct shim *s) {
  struct control *k = &s->control;
  k->grew_ms = s->now_ms;
  k->grew_waits = 0; // before settle, which may set it again
  for (int i = 0; i < CONTROL_CONNECTIONS; i++) {
    struct connection *c = &k->connection[i];
    if (c->fd >= 0 && c->subscribed) settle(s, c);
  }
}

void control_notice(struct shim *s, unsigned notices) {
  if (!s->control.subscribers) return;
  for (int i = 0; i < CONTROL_CONNECTIONS; i++) s->control.connection[i].notices |= notices;
  notify_all(s);
}

void control_grew(struct shim *s) {
  if (!s->control.subscribers) s->control.grew_waits = 0;
  else if (s->now_ms - s->control.grew_ms >= CONTROL_GREW_MS) notify_all(s);
  else s->control.grew_waits = 1;
}

// Serve whole requests until there is none, or too much is unread. 1: there may be more, 0: no, -1: garbage.
static int serve_received(struct shim *s, struct connection *c) {
  struct frame f;
  size_t at = 0;
  int more = 1;
  while (!c->ending && c->out.size <= CONTROL_ANSWERS && (more = connection_next(c, &at, &f)) > 0)
    request_serve(s, c, &f);
  if (at) bytes_drop(&c->in, at);
  return more;
}

void control_event(struct shim *s, uint32_t slot, uint32_t generation, uint32_t events) {
  struct connection *c = find(s, slot, generation);
  if (!c) return;
  int gone = (events & (EPOLLERR | EPOLLHUP)) && !(events & EPOLLIN); // the last requests of one who hung up are served
  if (events & EPOLLIN && connection_receive(c) < 0) gone = 1;
  for (int more = 1; more;) {
    more = serve_received(s, c);
    if (more < 0) gone = 1;
    if (gone) {
      connection_send(c);
      drop(s, c);
      return;
    }
    settle(s, c);
    if (c->fd < 0 || c->ending || c->out.size > CONTROL_ANSWERS) return;
  }
}

void control_flush(struct shim *s) {
  s->control.unsent = 0;
  for (int i = 0; s->control.connection && i < CONTROL_CONNECTIONS; i++)
    if (s->control.connection[i].fd >= 0) settle(s, &s->control.connection[i]);
}

void control_close(struct shim *s) {
  struct control *k = &s->control;
  for (int i = 0; k->connection && i < CONTROL_CONNECTIONS; i++)
    if (k->connection[i].fd >= 0) drop(s, &k->connection[i]);
  if (k->listen_fd >= 0) close(k->listen_fd);
  free(k->connection);
  free(k->stop_waiter);
  free(k->before);
  *k = (struct control){.listen_fd = -1};
}

void control_answer_stop(struct shim *s) {
  struct control *k = &s->control;
  for (size_t i = 0; i < k->stop_waiters; i++) {
    struct connection *c = find(s, k->stop_waiter[i].slot, k->stop_waiter[i].generation);
    if (!c) continue;
    size_t at = frame_begin(&c->out, FRAME_STOP_OK, k->stop_waiter[i].tag);
    answer_stop(s, &c->out);
    frame_end(&c->out, at);
    settle(s, c);
  }
  k->stop_waiters = 0;
  free(k->stop_waiter);
  k->stop_waiter = NULL;
}

// Called in the middle of a request too, so nothing is sent here that could drop the connection: control_flush does
// that.
void control_answer_stdin(void *shim, const struct ticket *who, int error, uint32_t size, int duplicate) {
  struct shim *s = shim;
  struct connection *c = find(s, who->slot, who->generation);
  if (!c) return;
  s->control.unsent = 1;
  if (error) {
    request_refuse(c, who->tag, error, "stdin is closed");
    return;
  }
  size_t at = frame_begin(&c->out, FRAME_STDIN_OK, who->tag);
  frame_number(&c->out, FIELD_SIZE, size);
  frame_number(&c->out, FIELD_DUPLICATE, (uint64_t)duplicate);
  frame_end(&c->out, at);
}
