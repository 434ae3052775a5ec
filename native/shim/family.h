// family.h: the living tree of this shim as callers need it: listed into memory of the right size, counted, measured.
#ifndef DROVER_FAMILY_H
#define DROVER_FAMILY_H

#include "shim.h"

enum { FAMILY_MAX = 1 << 16 };

// Every descendant, zombies included; a watched process comes first in its own list. The caller frees the array (NULL
// when empty).
struct proc *family_list(const struct shim *s, size_t *count);

int family_is_alive(const struct proc *p);

// Alive, the command itself not counted; 0 at once when wait(2) said ECHILD.
uint32_t family_children(const struct shim *s);

// read(2) and write(2) bytes of one process, zombies too. 0, or -1.
int family_io(pid_t pid, uint64_t *read_bytes, uint64_t *written_bytes);

// Its CPU time so far. 0, or -1.
int family_cpu(pid_t pid, uint64_t *user_us, uint64_t *system_us);

// Signal by scope. Returns how many were reached; 0 with errno when none was (ESRCH: nobody is there).
uint32_t family_signal(const struct shim *s, int signo, int scope);

#endif
