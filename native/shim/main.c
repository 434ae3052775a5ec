// drover-shim: one LAUNCH frame on fd 0, then the life of that process. For places where no keeper forks it:
// containers. `drover-shim signal SIGNO PID:START…` signals processes by identity.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "read-launch.h"
#include "shim.h"
#include "signal-command.h"

enum { EXIT_MISUSE = 100, EXIT_SYSTEM = 111 };

int main(int argc, char **argv) {
  struct host host;
  struct launch launch;
  const char *why = NULL;
  if (argc > 1 && strcmp(argv[1], "signal") == 0) return signal_command(argc - 2, argv + 2);
  if (argc > 1) {
    int version = strcmp(argv[1], "--version") == 0;
    fprintf(version ? stdout : stderr,
            version ? "drover-shim protocol %d\n" : "usage: drover-shim < LAUNCH frame (protocol %d)\n",
            DROVER_PROTOCOL_VERSION);
    return version ? 0 : EXIT_MISUSE;
  }
  host_close_inherited();
  if (host_open(&host)) {
    perror("drover-shim: cannot look at this machine");
    return EXIT_SYSTEM;
  }
  if (read_launch(0, &launch, &why) <= 0) {
    fprintf(stderr, "drover-shim: no launch: %s\n", why);
    return EXIT_MISUSE;
  }
  if (launch_parse(&launch, &why)) {
    fprintf(stderr, "drover-shim: %s\n", why);
    return EXIT_MISUSE;
  }
  return shim_run(&host, &launch, 1);
}
