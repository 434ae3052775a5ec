// hint.h: tell the daemon through the home's FIFO that something changed. A hint may be lost, the state file is the
// truth; so nothing here ever blocks, and what nobody listens to is dropped.
//
// The FIFO is opened from the run directory at boot and kept, because the run directory may be removed later. A full
// FIFO keeps the newest hint of each kind until hints_retry; no reader (EPIPE, ENXIO) drops it: the next daemon reads
// the state files.
#ifndef DROVER_HINT_H
#define DROVER_HINT_H

#include "../protocol.h"

enum { HINT_KINDS = 4, HINT_RETRY_MS = 50 };

struct hints {
  int fd;        // the FIFO, or -1
  int path_fd;   // O_PATH on it, made only when nobody read at boot, or -1
  unsigned kept; // bits 1 << kind
  struct hint pending[HINT_KINDS + 1];
};

void hints_open(struct hints *h); // from the run directory

// One or two records as one write, so that nobody comes between them.
void hints_tell(struct hints *h, const struct hint *record, size_t count);

// Try again what was kept. hints_waiting: whether there is something to try.
void hints_retry(struct hints *h);
int hints_waiting(const struct hints *h);

void hint_set_id(struct hint *record, const char *uuid);

#endif
