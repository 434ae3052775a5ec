// drover-keeper: a zygote. It reads LAUNCH frames and forks a shim for each; the child becomes the shim without exec,
// which saves most of what a start costs, and the daemon's event loop never waits in spawn. It ends with the daemon;
// shims do not.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../shim/read-launch.h"
#include "../shim/shim.h"

enum { EXIT_MISUSE = 100, EXIT_SYSTEM = 111 };

static void send_frame(struct bytes *out, size_t at) {
  frame_end(out, at);
  if (out->failed || write(1, out->data, out->size) < 0)
    fprintf(stderr, "drover-keeper: cannot answer: %s\n", strerror(errno));
  bytes_free(out);
}

static void tell_ready(void) {
  struct bytes out = {0};
  size_t at = frame_begin(&out, FRAME_READY, 0);
  frame_number(&out, FIELD_VERSION, DROVER_PROTOCOL_VERSION);
  send_frame(&out, at);
}

static void tell_failed(const struct launch *l, int error, uint32_t stage, const char *text) {
  struct bytes out = {0};
  size_t at = frame_begin(&out, FRAME_LAUNCH_FAILED, l->tag);
  if (l->id) frame_text(&out, FIELD_ID, l->id);
  frame_number(&out, FIELD_ERRNO, (uint64_t)error);
  frame_number(&out, FIELD_STAGE, stage);
  if (text) frame_text(&out, FIELD_TEXT, text);
  send_frame(&out, at);
}

// Parsed before the fork, so that what is wrong with it can be told and no page is copied for it.
static void launch(const struct host *host, struct launch *l) {
  const char *why = NULL;
  if (launch_parse(l, &why)) {
    tell_failed(l, EINVAL, STAGE_NONE, why);
  } else {
    pid_t pid = fork();
    if (pid == 0) _exit(shim_run(host, l, 1));
    if (pid < 0) tell_failed(l, errno, STAGE_FORK, NULL);
  }
  launch_unmap(l);
}

int main(int argc, char **argv) {
  struct host host;
  struct launch next;
  const char *why = NULL;
  int got;
  if (argc > 1) {
    int version = strcmp(argv[1], "--version") == 0;
    fprintf(version ? stdout : stderr,
            version ? "drover-keeper protocol %d\n" : "usage: drover-keeper (frames on fd 0, protocol %d)\n",
            DROVER_PROTOCOL_VERSION);
    return version ? 0 : EXIT_MISUSE;
  }
  host_close_inherited();
  setsid(); // a terminal's Ctrl-C is not for it
  prctl(PR_SET_NAME, "drover-keeper");
  if (host_open(&host)) {
    perror("drover-keeper: cannot look at this machine");
    return EXIT_SYSTEM;
  }
  signal(SIGCHLD, SIG_IGN); // the kernel reaps shims
  tell_ready();
  while ((got = read_launch(0, &next, &why)) > 0)
    if (got == 1) launch(&host, &next);
  if (got == 0) return 0;
  fprintf(stderr, "drover-keeper: %s\n", why);
  return EXIT_SYSTEM;
}
