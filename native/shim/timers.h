// timers.h: what the shim does because time has passed. All times are due times in struct shim; none set means: sleep
// for ever.
#ifndef DROVER_TIMERS_H
#define DROVER_TIMERS_H

#include "shim.h"

void timers_run(struct shim *s);       // do what is due
int timers_wait(const struct shim *s); // milliseconds until the next one, -1: none

#endif
