#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

static uint64_t inode_of(int fd) {
  struct stat st;
  return fstat(fd, &st) ? 0 : st.st_ino;
}

int command_resize(const struct command *c, uint32_t cols, uint32_t rows) {
  struct winsize size = {.ws_col = (unsigned short)cols, .ws_row = (unsigned short)rows};
  if (!c->is_terminal || c->stdin_fd < 0) {
    errno = ENOTTY;
    return -1;
  }
  return ioctl(c->stdin_fd, TIOCSWINSZ, &size);
}

// /dev/ptmx by hand instead of posix_openpt, grantpt, unlockpt, ptsname: two calls, and TIOCGPTPEER opens the right
// terminal even when /dev/pts belongs to another mount namespace (ioctl_tty(2)).
static int open_terminal(struct command *c, const struct launch *l) {
  int zero = 0;
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0) return -1;
  c->is_terminal = 1;
  c->stream[STREAM_OUT] = c->stdin_fd = master;
  if (ioctl(master, TIOCSPTLCK, &zero)) return -1;
  int terminal = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) { // before Linux 4.13
    char name[64];
    if (ptsname_r(master, name, sizeof name)) return -1;
    terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  if (terminal < 0) return -1;
  for (int i = 0; i < 3; i++) c->given[i] = terminal;
  c->out_inode = inode_of(terminal);
  if (l->cols && l->rows) command_resize(c, l->cols, l->rows);
  return 0;
}

// One pipe; the shim's end does not block, the command's end does, as programs expect.
static int open_pipe(int *ours, int *theirs, int ours_writes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return -1;
  *ours = ends[ours_writes];
  *theirs = ends[!ours_writes];
  return fcntl(*ours, F_SETFL, O_NONBLOCK | (ours_writes ? O_WRONLY : O_RDONLY));
}

int command_open(struct command *c, const struct launch *l) {
  *c = (struct command){.stream = {-1, -1}, .stdin_fd = -1, .given = {-1, -1, -1}};
  if (l->flags & LAUNCH_TTY) return open_terminal(c, l);
  if (open_pipe(&c->stream[STREAM_OUT], &c->given[1], 0)) return -1;
  c->out_inode = inode_of(c->given[1]);
  c->given[2] = c->given[1];
  if (l->flags & LAUNCH_SPLIT) {
    if (open_pipe(&c->stream[STREAM_ERR], &c->given[2], 0)) return -1;
    c->err_inode = inode_of(c->given[2]);
  }
  if (!(l->flags & (LAUNCH_STDIN_OPEN | LAUNCH_STDIN_DATA))) return 0;
  if (open_pipe(&c->stdin_fd, &c->given[0], 1)) return -1;
  c->stdin_inode = inode_of(c->given[0]);
  return 0;
}

// A file without #! runs in sh, as execvp and every shell do it. argv[0] is replaced by "sh", then comes the path.
static void exec_by_shell(const struct launch *l, char **with_shell) {
  size_t n = 0;
  with_shell[n++] = "/bin/sh";
  with_shell[n++] = l->exec_path;
  for (char **arg = l->argv + 1; l->argv[0] && *arg; arg++) with_shell[n++] = *arg;
  with_shell[n] = NULL;
  execve("/bin/sh", with_shell, l->envp);
}

struct failure {
  int error;
  uint32_t stage;
};

// In the child, in the parent's memory, while the parent sleeps: system calls only, and nothing is changed but *failed.
static void become(const struct command *c, const struct launch *l, const struct host *h, char **with_shell,
                   volatile struct failure *failed) {
  sigset_t none;
  setsid();
  failed->stage = STAGE_PIPES;
  if (c->is_terminal && ioctl(c->given[0], TIOCSCTTY, 0)) goto fail;
  for (int i = 0; i < 3; i++)
    if (c->given[i] >= 0 && dup2(c->given[i], i) < 0) goto fail;
  umask(h->umask);
  limits_enter(&l->limits);
  failed->stage = STAGE_CWD;
  if (chdir(l->cwd)) goto fail;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  failed->stage = STAGE_EXEC;
  execve(l->exec_path, l->argv, l->envp);
  if (errno == ENOEXEC) exec_by_shell(l, with_shell);
fail:
  failed->error = errno;
  _exit(127);
}

int command_start(struct command *c, const struct launch *l, const struct host *h, uint32_t *stage) {
  volatile struct failure failed = {0, STAGE_FORK};
  size_t args = 0;
  while (l->argv[args]) args++;
  char **volatile with_shell = malloc((args + 3) * sizeof *with_shell); // before vfork: the child must not allocate
  pid_t pid = with_shell ? vfork() : -1;
  if (pid == 0) become(c, l, h, with_shell, &failed);
  if (pid < 0) failed.error = errno;
  free(with_shell);
  for (int i = 0; i < 3; i++) {
    if (c->given[i] < 0) continue;
    int shared = (i > 0 && c->given[i] == c->given[i - 1]);
    if (!shared) close(c->given[i]);
  }
  for (int i = 0; i < 3; i++) c->given[i] = -1;
  *stage = failed.error ? failed.stage : STAGE_NONE;
  if (failed.error) {
    errno = failed.error;
    return -1;
  }
  c->pid = pid;
  return 0;
}

void command_close_stdin(struct command *c) {
  if (c->is_terminal || c->stdin_fd < 0) return;
  close(c->stdin_fd);
  c->stdin_fd = -1;
  c->stdin_inode = 0;
}

void command_close_stream(struct command *c, int stream) {
  if (!c->is_terminal) close(c->stream[stream]);
  c->stream[stream] = -1;
}
