// output-index.h: when which part of the output came, and on which stream: the file `index`.
//
// It is made for people who read the log later, so it is coarse on purpose: output of one stream within INDEX_EVERY_US
// of its record needs no new one. Like the log it keeps its head and a ring. When a record cannot be written it is
// dropped and `failed` is set; the log itself never depends on this file.
#ifndef DROVER_OUTPUT_INDEX_H
#define DROVER_OUTPUT_INDEX_H

#include "../protocol.h"

enum { INDEX_EVERY_US = 100000 };

struct output_index {
  int fd; // -1: not made yet
  uint64_t size;
  uint64_t dropped_from, dropped_to;
  int stream; // of the last record
  uint64_t at_us;
  int failed;
  void (*publish)(void *owner, int layout_changed); // as in output-log.h
  void *owner;
};

void index_open(struct output_index *x);
void index_add(struct output_index *x, uint64_t offset, int stream, uint64_t at_us);

#endif
