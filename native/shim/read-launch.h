// read-launch.h: read exactly one frame from a stream into a region of its own, so that no other launch lies beside it.
#ifndef DROVER_READ_LAUNCH_H
#define DROVER_READ_LAUNCH_H

#include "launch.h"

// 1: a whole LAUNCH frame is in l->region (launch_unmap it); 0: the stream has ended; 2: another frame, skipped; -1:
// with why.
int read_launch(int fd, struct launch *l, const char **why);

#endif
