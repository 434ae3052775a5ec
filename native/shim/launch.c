#include "launch.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ID_SIZE = 36, GRACE_MS = 5000 };
#define LOG_HEAD_DEFAULT (1ull << 20)
#define LOG_RING_DEFAULT (64ull << 20)
#define LOG_PART_MAX (1ull << 44) // keeps sums of offsets far from overflow

int launch_map(struct launch *l, size_t frame_size) {
  // A field is at least eight bytes, so one pointer for each of them and two ends of tables fit behind the frame.
  size_t size = (frame_size + 7) / 8 * 16 + 4 * sizeof(char *);
  void *region = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED) return -1;
  *l = (struct launch){.region = region, .region_size = size};
  return 0;
}

void launch_unmap(struct launch *l) {
  if (l->region) munmap(l->region, l->region_size);
  l->region = NULL;
}

// End a text by NUL in place: it moves down by one byte, into the last byte of its own header, which is always zero.
static char *text_of(const struct field *f) {
  if (memchr(f->data, 0, f->size)) return NULL;
  char *text = (char *)f->data - 1;
  memmove(text, f->data, f->size);
  text[f->size] = 0;
  return text;
}

static int is_uuid(const char *s) {
  for (int i = 0; i < ID_SIZE; i++) {
    int dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? s[i] != '-' : !s[i] || !strchr("0123456789abcdef", s[i])) return 0;
  }
  return s[ID_SIZE] == 0;
}

static uint64_t whole_pages(uint64_t bytes) {
  if (bytes > LOG_PART_MAX) bytes = LOG_PART_MAX;
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

static int take_number(struct launch *l, const struct field *f) {
  uint64_t n;
  if (field_number(f, &n)) return -1;
  switch (f->key) {
    case FIELD_FLAGS: l->flags = (uint32_t)n; break;
    case FIELD_COLS: l->cols = (uint16_t)n; break;
    case FIELD_ROWS: l->rows = (uint16_t)n; break;
    case FIELD_LOG_HEAD: l->log_head = whole_pages(n); break;
    case FIELD_LOG_RING: l->log_ring = whole_pages(n); break;
    case FIELD_TIMEOUT_MS: l->timeout_ms = n; break;
    case FIELD_IDLE_MS: l->idle_ms = n; break;
    case FIELD_GRACE_MS: l->grace_ms = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n; break;
    case FIELD_LIMIT_MEMORY: l->limits.memory = n; break;
    case FIELD_LIMIT_PIDS: l->limits.pids = n; break;
    case FIELD_CPU_WEIGHT: l->limits.cpu_weight = n; break;
    case FIELD_NICE: l->limits.has_nice = 1, l->limits.nice = (int)(int64_t)n; break;
    case FIELD_OOM_SCORE_ADJ: l->limits.has_oom = 1, l->limits.oom_score_adj = (int)(int64_t)n; break;
    case FIELD_WATCH_PID: l->watch_pid = n; break;
    case FIELD_WATCH_START: l->watch_start = n; break;
  }
  return 0;
}

static int take(struct launch *l, const struct field *f, size_t *args, size_t *envs) {
  char **to = NULL;
  switch (f->key) {
    case FIELD_ID: to = &l->id; break;
    case FIELD_RUN_DIR: to = &l->run_dir; break;
    case FIELD_CWD: to = &l->cwd; break;
    case FIELD_EXEC_PATH: to = &l->exec_path; break;
    case FIELD_CGROUP: to = (char **)&l->limits.cgroup; break;
    case FIELD_ARG: to = &l->argv[(*args)++]; break;
    case FIELD_ENV: to = &l->envp[(*envs)++]; break;
    case FIELD_STDIN_DATA:
      l->stdin_data = f->data;
      l->stdin_size = f->size;
      return 0;
    default: return take_number(l, f);
  }
  *to = text_of(f);
  return *to ? 0 : -1;
}

static const char *complaint(const struct launch *l, size_t args) {
  if (!l->id || !is_uuid(l->id)) return "the id is no UUID";
  if (!l->run_dir || l->run_dir[0] != '/') return "the run directory is not absolute";
  if (l->watch_pid) return l->watch_pid > INT32_MAX ? "no such pid" : NULL;
  if (!l->cwd || l->cwd[0] != '/') return "the directory is not absolute";
  if (!l->exec_path || l->exec_path[0] != '/') return "the program is not absolute";
  return args == 0 ? "there are no arguments" : NULL;
}

int launch_parse(struct launch *l, const char **why) {
  struct frame f;
  struct field field;
  size_t args = 0, envs = 0, at = 0;
  int more;
  *why = "malformed";
  if (frame_parse(l->region, l->region_size, FRAME_MAX, &f) <= 0 || f.type != FRAME_LAUNCH) return -1;
  l->tag = f.tag;
  l->log_head = LOG_HEAD_DEFAULT;
  l->log_ring = LOG_RING_DEFAULT;
  l->grace_ms = GRACE_MS;

  // Count first: the two tables lie behind the frame, one after the other. A text that was moved no longer has a whole
  // header, so each field is taken only after field_next has stepped over it.
  for (at = 0; (more = field_next(&f, &at, &field)) > 0;) args += field.key == FIELD_ARG;
  if (more < 0) return -1;
  l->argv = (char **)(void *)(l->region + (sizeof(struct frame_header) + f.size + 7) / 8 * 8);
  l->envp = l->argv + args + 1;
  args = 0;
  for (at = 0; field_next(&f, &at, &field) > 0;)
    if (take(l, &field, &args, &envs)) return -1;
  l->argv[args] = l->envp[envs] = NULL;
  if (!l->log_ring) l->log_ring = PAGE;
  *why = complaint(l, args);
  return *why ? -1 : 0;
}
