#include "shim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drain.h"
#include "ending.h"
#include "tell.h"
#include "timers.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { EXIT_SYSTEM = 111, EVENTS = 16 };

uint64_t shim_poll_data(enum shim_source source, uint32_t generation, uint32_t slot) {
  return (uint64_t)source << 56 | (uint64_t)(generation & 0xffffff) << 32 | slot;
}

void shim_poll(struct shim *s, int fd, uint32_t before, uint32_t events, uint64_t data) {
  struct epoll_event e = {.events = events, .data.u64 = data};
  epoll_ctl(s->epoll_fd, !before ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, fd, &e);
}

void shim_poll_input(struct shim *s) {
  int fd = s->command.stdin_fd;
  if (fd < 0) {
    s->input_events = 0; // closing removed it
    return;
  }
  uint32_t events = input_waiting(&s->input) ? EPOLLOUT : 0;
  if (s->command.is_terminal) events |= EPOLLIN | (s->terminal_hung_up ? (uint32_t)EPOLLET : 0);
  if (events == s->input_events) return;
  enum shim_source source = s->command.is_terminal ? SOURCE_OUTPUT : SOURCE_STDIN;
  shim_poll(s, fd, s->input_events, events, shim_poll_data(source, 0, STREAM_OUT));
  s->input_events = events;
}

void shim_stop(struct shim *s, const struct stop_step *step, size_t steps, int reason) {
  if (!s->stop_reason && s->phase < PHASE_EXITED) s->stop_reason = reason;
  s->stop.cgroup_kill_fd = s->limits.kill_fd;
  s->stop.include_root = s->watch_fd >= 0;
  s->stop.root_start = s->command.start;
  stop_begin(&s->stop, step, steps, reason, s->now_ms);
  s->stop_due = s->now_ms;
}

// ---- Boot -----------------------------------------------------------------------------------------------------------------

static void launch_failed(const struct launch *l, int error, uint32_t stage) {
  struct bytes out = {0};
  size_t at = frame_begin(&out, FRAME_LAUNCH_FAILED, l->tag);
  frame_text(&out, FIELD_ID, l->id);
  frame_number(&out, FIELD_ERRNO, (uint64_t)error);
  frame_number(&out, FIELD_STAGE, stage);
  frame_end(&out, at);
  // When nobody reads, the daemon is gone, and the next one will find no claim.
  if (!out.failed && write(1, out.data, out.size) < 0) return;
  bytes_free(&out);
}

// Be nobody's child in anything that matters: own session, all signals blocked (host.c says why), parent of all orphans
// below.
static void detach(struct shim *s) {
  sigset_t all;
  struct sigaction reap = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}; // ignored by the keeper: would reap unseen
  setsid();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "drover-shim");
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigaction(SIGCHLD, &reap, NULL);
  s->pid = getpid();
}

static void fill_header(struct shim *s, const struct launch *l) {
  struct slot_header *h = &s->state.header;
  h->layout = DROVER_LAYOUT_VERSION;
  h->protocol = DROVER_PROTOCOL_VERSION;
  memcpy(h->id, l->id, sizeof h->id);
  memcpy(h->boot_id, s->host->boot_id, sizeof h->boot_id);
  h->flags = l->flags;
  h->uid = s->host->uid;
  h->pid_ns = s->host->pid_ns;
  h->shim_pid = (uint32_t)s->pid;
  h->started_at_ms = wall_us() / 1000;
  h->log_head = l->log_head;
  h->log_ring = l->log_ring;
  h->cols = l->cols;
  h->rows = l->rows;
  h->watched = l->watch_pid != 0;
}

static void fill(struct shim *s, const struct launch *l) {
  memcpy(s->id, l->id, sizeof s->id);
  s->watch_fd = -1;
  s->now_ms = clock_ms();
  s->started_us = clock_us();
  s->cols = l->cols;
  s->rows = l->rows;
  s->grace_ms = l->grace_ms;
  s->active_ms = s->now_ms;
  s->idle_ms = l->idle_ms;
  s->lifetime_due = l->timeout_ms ? s->now_ms + l->timeout_ms : 0;
  s->log.head = l->log_head;
  s->log.ring = l->log_ring;
  s->log.want_segments = (l->flags & LAUNCH_LOG_SEGMENTS) != 0;
  s->log.publish = s->index.publish = tell_log_changed;
  s->log.owner = s->index.owner = s->input.owner = s;
  s->input.command = &s->command;
  s->input.answer = control_answer_stdin;
  s->control.listen_fd = -1;
  s->state.fd = -1;
  log_open(&s->log);
  index_open(&s->index);
}

// Claim the launch and lay down the state file. 0: go on; 1: somebody else has decided; -1 with errno and stage.
static int claim(struct shim *s, const struct launch *l, uint32_t *stage) {
  struct proc self;
  *stage = STAGE_CLAIM;
  if (proc_read(s->pid, &self)) return -1;
  s->state.header.shim_start = self.start;
  if (claim_make(s->pid, self.start)) return errno == EEXIST ? 1 : -1;
  *stage = STAGE_STATE;
  fill_header(s, l);
  return state_create(&s->state);
}

static int watch_process(struct shim *s, const struct launch *l, uint32_t *stage) {
  struct proc p;
  *stage = STAGE_WATCH;
  s->command = (struct command){.stream = {-1, -1}, .stdin_fd = -1};
  s->limits.leaf_fd = s->limits.parent_fd = s->limits.kill_fd = -1;
  s->watch_fd = (int)syscall(SYS_pidfd_open, (pid_t)l->watch_pid, 0);
  if (s->watch_fd < 0) return -1;
  errno = ESRCH; // the proof is read after the pidfd was opened, so both are about the same process
  if (proc_read((pid_t)l->watch_pid, &p) || p.start != l->watch_start) return -1;
  s->command.pid = p.pid;
  s->command.start = p.start;
  *stage = STAGE_NONE;
  return 0;
}

static int start_command(struct shim *s, struct launch *l, uint32_t *stage) {
  struct proc p;
  *stage = STAGE_PIPES;
  if (command_open(&s->command, l)) return -1;
  l->limits.id = s->id;
  limits_open(&l->limits);
  s->limits = l->limits;
  s->limits.cgroup = NULL; // lies in the launch
  if (command_start(&s->command, l, s->host, stage)) {
    limits_close(&s->limits);
    return -1;
  }
  limits_started(&s->limits, s->command.pid);
  s->children_left = 1;
  if (proc_read(s->command.pid, &p) == 0) s->command.start = p.start; // not reaped yet, so it is there
  if (limits_watched(&s->limits)) s->limits_due = s->now_ms + LIMITS_EVERY_MS;
  return 0;
}

// What can be done while the command already runs, because nobody knows of it before the hint.
static void settle(struct shim *s, struct launch *l) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  s->signal_fd = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
  shim_poll(s, s->signal_fd, 0, EPOLLIN, shim_poll_data(SOURCE_SIGNALS, 0, 0));
  if (s->watch_fd >= 0) shim_poll(s, s->watch_fd, 0, EPOLLIN, shim_poll_data(SOURCE_WATCHED, 0, 0));
  drain_register(s);
  if (s->command.stdin_fd >= 0) {
    input_first(&s->input, l->stdin_data, l->stdin_size, !(l->flags & (LAUNCH_STDIN_OPEN | LAUNCH_TTY)));
    shim_poll_input(s);
  }
  launch_unmap(l);
  struct slot_header *h = &s->state.header;
  h->leader_pid = (uint32_t)s->command.pid;
  h->leader_start = s->command.start;
  h->out_inode = s->command.out_inode;
  h->err_inode = s->command.err_inode;
  h->enforced = s->limits.enforced;
  if (state_header(&s->state)) s->warnings |= WARNING_STATE_FAILED;
  control_open(s);
  if (s->control.listen_fd >= 0) shim_poll(s, s->control.listen_fd, 0, EPOLLIN, shim_poll_data(SOURCE_LISTEN, 0, 0));
  s->phase = PHASE_RUNNING;
  tell_started(s, 0, STAGE_NONE);
}

static int fail_start(struct shim *s, int error, uint32_t stage) {
  s->state.header.start_errno = error;
  s->state.header.start_stage = stage;
  if (s->state.fd >= 0) state_header(&s->state);
  tell_started(s, error, stage);
  for (int tries = 0; hints_waiting(&s->hints) && tries < 40; tries++) { // two seconds: the header slot has it too
    usleep(HINT_RETRY_MS * 1000);
    hints_retry(&s->hints);
  }
  return EXIT_SYSTEM;
}

// ---- Loop -----------------------------------------------------------------------------------------------------------------

static void on_event(struct shim *s, const struct epoll_event *e) {
  uint32_t slot = (uint32_t)e->data.u64, generation = e->data.u64 >> 32 & 0xffffff;
  struct signalfd_siginfo told;
  switch ((enum shim_source)(e->data.u64 >> 56)) {
    case SOURCE_SIGNALS:
      if (read(s->signal_fd, &told, sizeof told) > 0) ending_reap(s);
      break;
    case SOURCE_WATCHED: ending_watched(s); break;
    case SOURCE_OUTPUT:
      if (e->events & EPOLLOUT) input_flush(&s->input);
      drain_turn(s, (int)slot);
      shim_poll_input(s);
      break;
    case SOURCE_STDIN:
      input_flush(&s->input);
      if (input_waiting(&s->input) && e->events & EPOLLERR) input_fail(&s->input, EPIPE); // the reader has closed
      s->active_ms = s->now_ms;
      shim_poll_input(s);
      break;
    case SOURCE_LISTEN: control_accept(s); break;
    case SOURCE_CONNECTION: control_event(s, slot, generation, e->events); break;
  }
}

// A shim never ends while its command or a descendant lives, nor while it owes somebody a hint or an answer (for
// LINGER_MS).
static int is_over(const struct shim *s) {
  if (s->phase != PHASE_ENDED || s->stop_due) return 0;
  return (s->control.open == 0 && !hints_waiting(&s->hints)) || s->now_ms >= s->linger_due;
}

static void loop(struct shim *s) {
  struct epoll_event event[EVENTS];
  while (!is_over(s)) {
    int n = epoll_wait(s->epoll_fd, event, EVENTS, timers_wait(s));
    s->now_ms = clock_ms();
    for (int i = 0; i < n; i++) on_event(s, &event[i]);
    timers_run(s);
    if (s->control.unsent) control_flush(s);
  }
}

int shim_run(const struct host *h, struct launch *l, int answers) {
  struct shim shim = {.host = h}, *s = &shim;
  uint32_t stage = STAGE_NONE;
  detach(s);
  if (chdir(l->run_dir)) {
    if (answers) launch_failed(l, errno, STAGE_RUN_DIR);
    return EXIT_SYSTEM;
  }
  host_leave_stdio(h);
  fill(s, l);
  int claimed = claim(s, l, &stage);
  if (claimed > 0) return 0;
  hints_open(&s->hints);
  if (claimed < 0) return fail_start(s, errno, stage);
  if (l->watch_pid ? watch_process(s, l, &stage) : start_command(s, l, &stage)) return fail_start(s, errno, stage);
  settle(s, l);
  loop(s);
  input_close(&s->input);
  control_close(s);
  stop_close(&s->stop);
  limits_close(&s->limits);
  ending_sync(s);
  return 0;
}
