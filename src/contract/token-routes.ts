/** Tokens beside the home's own, and the end of a chat. */
export const tokenRoutes = {
  "token.create": {
    method: "POST",
    path: "/api/v0/tokens",
    answer: "json",
    emptyBody: true,
    changes: true,
    unscoped: true,
    summary: "Make a token: for everything or one chat, to change or only to read, for ever or for a time.",
    faults: ["request/invalid-json", "request/invalid", "request/too-large", "daemon/overloaded"],
  },
  "token.list": {
    method: "GET",
    path: "/api/v0/tokens",
    answer: "json",
    unscoped: true,
    summary: "The tokens that were made, without the tokens themselves.",
    faults: [],
  },
  "token.revoke": {
    method: "DELETE",
    path: "/api/v0/tokens/{id}",
    answer: "json",
    changes: true,
    unscoped: true,
    summary: "Take a token back; whatever it has open ends at once.",
    faults: ["token/not-found"],
  },
  "chat.end": {
    method: "DELETE",
    path: "/api/v0/chats/{id}",
    answer: "json",
    changes: true,
    summary: "A chat is over: stop its processes that were started with `on_chat_end: stop`, keep the others.",
    faults: ["request/invalid", "auth/chat-mismatch", "process/stop-incomplete"],
  },
} as const;
