/*
 * spawn-loop COUNT: the least that a start can cost. Runs `sh -c true` COUNT times by posix_spawn, reads its pipe to the end,
 * reaps it, and prints the microseconds of each run on a line of its own. This is what Drover's start is compared with.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int run_once(void) {
  char *argv[] = {"sh", "-c", "true", NULL};
  char buffer[4096];
  posix_spawn_file_actions_t actions;
  int ends[2], status;
  pid_t pid;
  ssize_t got;

  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  int failed = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed) return -1;
  do got = read(ends[0], buffer, sizeof buffer);
  while (got > 0);
  close(ends[0]);
  if (waitpid(pid, &status, 0) != pid) return -1;
  return status;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < count; i++) {
    double from = now_us();
    if (run_once() != 0) return 111;
    printf("%.1f\n", now_us() - from);
  }
  return 0;
}
