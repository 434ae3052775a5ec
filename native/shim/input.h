// input.h: what is written to the command's stdin, in order, each request answered when the kernel has taken all of it.
//
// What the pipe does not take waits in a queue of at most INPUT_QUEUE bytes; beyond that a request is refused with
// EAGAIN, so a command that does not read costs a bounded amount of memory. A WRITE_ID that was seen before is not
// written again: a client whose connection broke may send the same request once more. Everything is allocated at first
// use and given back when empty.
#ifndef DROVER_INPUT_H
#define DROVER_INPUT_H

#include "command.h"

enum { INPUT_QUEUE = 1 << 20, INPUT_WAITERS = 1024, INPUT_IDS = 256 };

struct ticket { // who asked: a connection and the tag of its request
  uint32_t slot, generation, tag;
};
struct input_waiter {
  struct ticket who;
  uint64_t until; // position of the stream at which it is done
  uint32_t size;
  int duplicate;
};
struct input_id {
  uint8_t id[16];
  uint64_t until;
};
struct input_request {
  struct ticket who;
  const uint8_t *data;
  size_t size;
  const uint8_t *id; // 16 bytes, or NULL
  int close;
};
struct input {
  struct command *command;
  struct bytes queue;
  uint64_t taken, queued;  // positions: what the kernel has, what it will have
  int close_wanted, error; // error: EPIPE once nobody can read
  struct input_waiter *waiter;
  size_t waiters, waiter_room;
  struct input_id *ids;
  size_t ids_count; // ever

  // Set by the owner.
  void (*answer)(void *owner, const struct ticket *who, int error, uint32_t size, int duplicate);
  void *owner;
};

// Bytes of the launch; nobody waits for them. 0, or -1 with errno.
int input_first(struct input *in, const uint8_t *data, size_t size, int close_after);

// 0: it was or will be answered through `answer`; else errno, and nothing was written.
int input_write(struct input *in, const struct input_request *r);

// The pipe or terminal takes bytes again. input_waiting: whether the owner should look out for that.
void input_flush(struct input *in);
int input_waiting(const struct input *in);

// The command's stdin is of no use any more: refuse everything that waits.
void input_fail(struct input *in, int error);

int input_state(const struct input *in); // enum stdin_state

void input_close(struct input *in); // answers nobody

#endif
