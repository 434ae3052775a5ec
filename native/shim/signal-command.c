#include "signal-command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tree.h"

enum { EXIT_MISUSE = 100 };

static int parse_number(const char *text, char until, const char **rest, uint64_t *out) {
  char *end = NULL;
  errno = 0;
  *out = strtoull(text, &end, 10);
  if (errno || end == text || *end != until) return -1;
  *rest = end + (until != 0);
  return 0;
}

int signal_command(int argc, char **argv) {
  const char *rest = NULL;
  uint64_t signo = 0, pid = 0, start = 0;
  if (argc < 2 || parse_number(argv[0], 0, &rest, &signo) || signo > 64) return EXIT_MISUSE;
  for (int i = 1; i < argc; i++) {
    if (parse_number(argv[i], ':', &rest, &pid) || parse_number(rest, 0, &rest, &start) || pid < 2 || pid > INT32_MAX)
      return EXIT_MISUSE;
    int error = proc_signal((pid_t)pid, start, (int)signo) ? errno : 0;
    printf("%d %d\n", (int)pid, error);
  }
  return 0;
}
