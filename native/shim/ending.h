// ending.h: how things end: who was reaped, why the command ended, when nobody is left.
//
// Two ends: the command's (PHASE_EXITED: its code is known, leftovers may live) and the tree's (PHASE_ENDED: wait(2)
// said ECHILD). Each is written to its slot before anybody is told.
#ifndef DROVER_ENDING_H
#define DROVER_ENDING_H

#include "shim.h"

enum { LINGER_MS = 2000, SYNC_AFTER_MS = 1000 };

void ending_reap(struct shim *s);    // after SIGCHLD: reap everybody, write and tell what follows from it
void ending_watched(struct shim *s); // the pidfd of a watched process says that it has ended

// The record to the disk itself. It can take long and nobody may wait for it, so it is the shim's last act.
void ending_sync(const struct shim *s);

#endif
