// command.h: the command's standard streams and its start.
//
// command_open makes pipes or a pseudo terminal; command_start runs the program with vfork, so that a failed exec is
// known at once through shared memory and no page is copied. The shim's ends are non-blocking and belong to struct
// command; the command's ends are closed by command_start. Pipes keep their default size: an unprivileged user has
// 16,384 pipe pages in all.
#ifndef DROVER_COMMAND_H
#define DROVER_COMMAND_H

#include "host.h"
#include "launch.h"

enum { STREAM_OUT, STREAM_ERR, STREAMS };

struct command {
  pid_t pid; // 0: not started
  uint64_t start;
  int is_terminal;
  int stream[STREAMS];  // where its output is read; the master on a terminal; -1: none, or at its end
  int stdin_fd;         // where its input is written; the master on a terminal; -1: none
  uint64_t stdin_inode; // of the pipe, 0 when there is none
  uint64_t out_inode, err_inode;
  int given[3]; // the command's ends until it runs; -1: the shim's own, which is /dev/null
};

// 0, or -1 with errno.
int command_open(struct command *c, const struct launch *l);

// Run it. 0, or -1 with errno and the stage at which it failed. c->pid and c->start are set on success.
int command_start(struct command *c, const struct launch *l, const struct host *h, uint32_t *stage);

int command_resize(const struct command *c, uint32_t cols, uint32_t rows); // 0, or -1 with errno
void command_close_stdin(struct command *c);

// A pipe at its end is closed; a terminal stays open, because closing the master would hang up whoever is left.
void command_close_stream(struct command *c, int stream);

#endif
