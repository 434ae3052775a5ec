// shim.h: everything that is beside one process, in one struct that is passed by pointer.
//
// Reading order: shim.c boots and runs the loop; drain.c takes output; ending.c reaps and writes the end; timers.c does
// what time brings; control.c and request.c serve requests with the help of answer.c; tell.c publishes. The parts (log, state file,
// input, hints, stop, limits …) know nothing of this struct and are understood alone.
#ifndef DROVER_SHIM_H
#define DROVER_SHIM_H

#include "command.h"
#include "control.h"
#include "hint.h"
#include "host.h"
#include "input.h"
#include "launch.h"
#include "limits.h"
#include "output-index.h"
#include "output-log.h"
#include "state-file.h"
#include "stop.h"

enum shim_source { SOURCE_SIGNALS = 1, SOURCE_WATCHED, SOURCE_OUTPUT, SOURCE_STDIN, SOURCE_LISTEN, SOURCE_CONNECTION };

struct shim {
  const struct host *host;
  pid_t pid; // this shim's own
  char id[37];
  int epoll_fd, signal_fd;
  int watch_fd;           // pidfd of a watched process, or -1
  struct command command; // pid and start also of a watched process
  struct input input;
  struct output_log log;
  struct output_index index;
  struct state_file state;
  struct hints hints;
  struct control control;
  struct stop stop;
  struct limits limits;

  uint32_t phase;    // enum phase
  int children_left; // wait(2) has not yet said ECHILD
  uint32_t warnings; // enum warning
  int has_marks;     // a mark slot was written, so the exit writes one too
  uint32_t cols, rows;
  int stop_reason;              // of the first stop; sticky, so that an end after it is told as that
  int user_signal, user_reason; // the last FRAME_SIGNAL
  char limit_why[128];
  struct slot_exit exit; // valid from PHASE_EXITED on
  struct slot_end end;   // counts from the start, complete from PHASE_ENDED on

  uint64_t now_ms; // of this turn of the loop; everything below is on the same clock, 0 = not set
  uint64_t started_us;
  uint64_t lifetime_due;
  uint64_t idle_ms, active_ms; // longest silence; when something last came or went
  uint32_t grace_ms;
  uint64_t stop_due, limits_due, hint_due, linger_due, buffer_due;
  uint64_t warned_ms, gone_checked_ms;
  int warning_waits;     // a warning that is to be told at warned_ms + its distance
  int terminal_hung_up;  // nobody has it open at the moment
  uint32_t input_events; // registered with epoll: for the stdin pipe, or for a terminal's master
};

// Run a launch to its end. Called in a process of its own that has let go of nothing yet: fd 1 still takes
// LAUNCH_FAILED (only used when `answers` is set). Takes over `l` and unmaps it. Returns the exit status.
int shim_run(const struct host *h, struct launch *l, int answers);

// Register a descriptor: `events` 0 removes it. `before` is what it had (0: it is new).
void shim_poll(struct shim *s, int fd, uint32_t before, uint32_t events, uint64_t data);
uint64_t shim_poll_data(enum shim_source source, uint32_t generation, uint32_t slot);

// Look out for room in stdin exactly while something waits for it, and for output of a terminal.
void shim_poll_input(struct shim *s);

// Begin to end the whole tree, or join the stop that is under way.
void shim_stop(struct shim *s, const struct stop_step *step, size_t steps, int reason);

#endif
