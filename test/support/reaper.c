// reaper CMD ARGS...: runs CMD and leaves nothing behind. It is a child subreaper, so every orphan below it comes to it
// and is reaped, instead of piling up at pid 1 until nobody can fork; when CMD ends, whatever still lives below is
// killed and reaped (5 seconds at most).
//
// CMD stays in the same session and process group, so a terminal works as usual; INT, TERM and HUP sent to the reaper
// alone are passed on to CMD. Exit: CMD's own status, 128 + N after signal N, 127 when it cannot be run, 100 misuse,
// 111 system failure. Linux; needs /proc.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SWEEP_MS = 5000, ROUND_MS = 2 };

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// Kill everybody below: our direct children and, as they end, those that become our children. A direct child that was
// not waited for keeps its pid, so no stranger is hit; grandchildren are hit through their parents' end.
static void kill_children(void) {
  char path[64], list[65536];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, list, sizeof list - 1);
  if (fd >= 0) close(fd);
  if (size <= 0) return;
  list[size] = 0;
  for (char *at = list, *end; *at; at = end) {
    long pid = strtol(at, &end, 10);
    if (end == at) break;
    if (pid > 1 && (*end == ' ' || !*end)) kill((pid_t)pid, SIGKILL);
  }
}

static int sweep(void) {
  for (int64_t end = now_ms() + SWEEP_MS; now_ms() < end;) {
    kill_children();
    pid_t pid;
    int ended = 0;
    while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0) ended = 1;
    if (pid < 0 && errno == ECHILD) return 0;
    if (ended) continue; // a forker must not be given time
    struct timespec pause = {0, ROUND_MS * 1000000};
    nanosleep(&pause, NULL);
  }
  fprintf(stderr, "reaper: something is left after %d ms\n", SWEEP_MS);
  return -1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: reaper CMD ARGS...\n");
    return 100;
  }
  if (prctl(PR_SET_CHILD_SUBREAPER, 1)) return 111;
  sigset_t watched, before;
  sigemptyset(&watched);
  int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaddset(&watched, signals[i]);
  sigprocmask(SIG_BLOCK, &watched, &before);
  signal(SIGCHLD, SIG_DFL); // inherited as ignored, children would vanish without a status

  pid_t child = fork();
  if (child < 0) return 111;
  if (!child) {
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(argv[1], argv + 1);
    fprintf(stderr, "reaper: %s: %s\n", argv[1], strerror(errno));
    _exit(127);
  }
  for (int code = -1; code < 0;) {
    siginfo_t info;
    int signo = sigwaitinfo(&watched, &info);
    if (signo > 0 && signo != SIGCHLD && info.si_code <= 0) kill(child, signo); // from the terminal (SI_KERNEL) the whole group has it already
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0;)
      if (pid == child) code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code >= 0) return sweep() ? 111 : code;
  }
}
