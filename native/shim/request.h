// request.h: one request of a control connection, from its frame to its answer in the connection's `out`.
//
// Nothing is sent here and no connection is closed: control.c does that after the request. Answers that come later (stdin, stop) are
// added by the callbacks in control.h.
#ifndef DROVER_REQUEST_H
#define DROVER_REQUEST_H

#include "shim.h"

void request_serve(struct shim *s, struct connection *c, const struct frame *f);
void request_refuse(struct connection *c, uint32_t tag, int error, const char *text); // FRAME_ERROR

#endif
