/** Changes in the repositories that a chat works in: the original's WebSocket, and two forms for those who cannot use it. */
export const gitRoutes = {
  "git.watch": {
    method: "GET",
    path: "/api/v0/git/watch",
    answer: "socket",
    summary:
      'Changes in a chat\'s repositories. Text frames of JSON; send `{"type":"refresh"}` to have them read anew.',
    faults: ["auth/chat-mismatch"],
  },
  "git.status": {
    method: "GET",
    path: "/api/v0/git/status",
    answer: "json",
    summary: "One repository as it is now: branch, changed files, diff.",
    faults: ["request/invalid", "git/no-repository"],
  },
  "git.stream": {
    method: "GET",
    path: "/api/v0/git/stream",
    answer: "sse",
    summary: "The messages of the watch as `event: changes`, for a chat or for one path.",
    faults: ["request/invalid", "git/no-repository", "auth/chat-mismatch"],
  },
} as const;
