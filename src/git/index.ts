// git: which repositories a chat works in, and what changes in them.
//
// One Repository per root, shared by every connection and chat, scanned only while somebody watches: by file-system events, by a
// request, and by the clock (5 s without events, 60 s with them). A scan is one `git status`; only when that or a file's stamp
// says that something is different follows one `git diff`. Untracked files are read here, without a process for each.
//
// Invariants: git never writes to the user's repository, so no lock is ever taken; settings of the user change nothing in the text;
// names are bytes until they are shown; a file's diff is whole or listed as left out, and a frame stays below 4 MiB; a slow reader
// holds one message and references; a git that hangs is ended after 10 s; what cannot be read says so in `error`.
//
// Read: git-watch.ts, views.ts, session.ts (a connection); repository.ts (a scanner), snapshot.ts, run-git.ts, tree-watch.ts;
// parse-status.ts, parse-diff.ts, untracked.ts, diff-budget.ts, message.ts (pure).
export { GitWatch, type GitWatchOptions, type RootStore } from "./git-watch.ts";
export { FRAME_BYTES as GIT_FRAME_BYTES, type GitMessage } from "./message.ts";
export type { Session as GitSession } from "./session.ts";
