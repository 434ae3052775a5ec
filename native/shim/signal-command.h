// signal-command.h: `drover-shim signal SIGNO PID:START…`, for a daemon that has no pidfd of its own.
//
// After a killed shim its descendants are nobody's; the daemon finds them by identity and asks this program to signal
// exactly those: each is pinned by a pidfd and its start time proven before anything is sent. One line each on stdout:
// "PID ERRNO", 0 when it was sent.
#ifndef DROVER_SIGNAL_COMMAND_H
#define DROVER_SIGNAL_COMMAND_H

// `argv` begins with the signal's number. Returns the exit status: 0, or 100 when the words are off.
int signal_command(int argc, char **argv);

#endif
