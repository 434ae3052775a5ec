// tell.h: publish what changed: the mark slot, then hints for the daemon and notices for subscribers. The file comes
// first, so whoever is told finds the truth there.
#ifndef DROVER_TELL_H
#define DROVER_TELL_H

#include "shim.h"

enum { TELL_WARNING_MS = 1000 }; // between two warning hints

void tell_mark(struct shim *s);
void tell_log_changed(void *shim, int layout_changed); // publish callback of the log and its index

void tell_started(struct shim *s, int error, uint32_t stage);
void tell_exited(struct shim *s); // with ENDED in the same write when that holds too
void tell_ended(struct shim *s);

// Set or clear warnings; a change is published now and told at most once in TELL_WARNING_MS (tell_warning_due does it
// later).
void tell_warning(struct shim *s, uint32_t set, uint32_t clear);
void tell_warning_due(struct shim *s);

// Look whether the run directory was removed; at most once a second unless `now`.
void tell_if_gone(struct shim *s, int now);

#endif
