import type { Route } from "./routes.ts";

/** The model tools over plain HTTP. Whether a call changes something depends on the tool, so the operation judges it. */
export const toolRoutes = {
  "tool.list": {
    method: "GET",
    path: "/api/v0/tools",
    answer: "json",
    summary: "The model tools with their JSON Schemas; `set` chooses names that a model already knows.",
    faults: ["request/invalid"],
  },
  "tool.call": {
    method: "POST",
    path: "/api/v0/tools/{name}",
    answer: "json",
    body: "arguments",
    emptyBody: true,
    summary: "Call a model tool; the body is its arguments. Answers within 45 s; what takes longer returns a handle.",
    faults: [
      "request/invalid-json",
      "request/too-large",
      "tool/unknown",
      "tool/bad-arguments",
      "process/not-found",
      "process/ambiguous",
    ],
  },
} as const satisfies Record<string, Route>;
