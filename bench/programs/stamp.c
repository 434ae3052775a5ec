/*
 * stamp MS: sleeps, prints CLOCK_MONOTONIC in nanoseconds, exits. The reader subtracts the number from its own clock (Node's
 * process.hrtime is the same one) and knows how long after the exit it was told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct timespec now;
  usleep((useconds_t)(argc > 1 ? atoi(argv[1]) : 0) * 1000);
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%lld\n", (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
  return 0;
}
