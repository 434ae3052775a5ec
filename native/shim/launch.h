// launch.h: a LAUNCH frame as a struct.
//
// The frame carries the environment, so nothing is copied out of it: every text is ended by NUL in place and every
// pointer of `struct launch` points into the region. The owner reads the frame into a region from launch_map, parses it
// once, and unmaps it with launch_unmap as soon as the command runs; after that the environment exists in the command
// alone.
#ifndef DROVER_LAUNCH_H
#define DROVER_LAUNCH_H

#include "frame.h"
#include "limits.h"

struct launch {
  uint8_t *region; // the frame, then the tables of pointers; NULL when unmapped
  size_t region_size;
  uint32_t tag;
  char *id; // 36 characters
  char *run_dir, *cwd, *exec_path;
  char **argv, **envp;
  uint32_t flags; // launch_flag
  uint32_t cols, rows;
  const uint8_t *stdin_data;
  size_t stdin_size;
  uint64_t log_head, log_ring;  // whole pages
  uint64_t timeout_ms, idle_ms; // 0: none
  uint32_t grace_ms;
  struct limits limits;
  uint64_t watch_pid, watch_start; // watch_pid 0: start a command
};

// A region for a frame of `frame_size` bytes (header included) with room for the tables. 0, or -1 with errno.
int launch_map(struct launch *l, size_t frame_size);
void launch_unmap(struct launch *l);

// Parse the frame at the start of the region. 0, or -1 with what is wrong with it; `id` and `tag` are set when they
// were found.
int launch_parse(struct launch *l, const char **why);

#endif
