import { type Route, routes } from "../contract/index.ts";
import { answerWith, type ReplyHeaders } from "./answer.ts";
import type { Knock } from "./exchange.ts";

const patterns = Object.values(routes).map((route: Route) => ({
  method: route.method,
  pattern: new RegExp(`^${route.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

/** Methods of the routes with this path; looked for only after no route matched. */
export function allowedMethods(path: string): string[] {
  if (path === "/") return ["GET"];
  return [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}

/** A browser asks whether an allowed foreign page may send its request. It cannot show a token yet. */
export function isPreflight({ request, header }: Knock): boolean {
  return request.method === "OPTIONS" && header("access-control-request-method") !== undefined;
}

export function answerPreflight(headers: ReplyHeaders): Response {
  const allowed = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers":
      "Authorization, Accept, Content-Type, Coder-Chat-Id, Coder-Ancestor-Chat-Ids, Drover-Strict, Last-Event-ID, X-Request-Id, traceparent, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name",
    "Access-Control-Max-Age": "600",
  };
  return answerWith(null, "text/plain", { ...headers, ...allowed }, 204);
}
