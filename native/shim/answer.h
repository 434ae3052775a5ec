// answer.h: the larger answers of the control socket, built as fields into a frame that is already open.
#ifndef DROVER_ANSWER_H
#define DROVER_ANSWER_H

#include "shim.h"

enum { ANSWER_COMMANDS = 1 << 20, ANSWER_COMMAND_CUT = 64 }; // command lines are cut short once an answer is this large

void answer_status(struct shim *s, struct bytes *out);
void answer_notice(struct shim *s, struct bytes *out, unsigned notices); // what changed with these
void answer_stop(struct shim *s, struct bytes *out);
void answer_look(struct shim *s, struct bytes *out, uint64_t what);

// Log bytes from `from`; the owner has checked `size`. 0, or errno.
int answer_read(struct shim *s, struct bytes *out, uint64_t from, size_t size);

#endif
