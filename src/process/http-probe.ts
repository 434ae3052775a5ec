import { get } from "node:http";
import { Fault } from "../contract/index.ts";

/** A server that is up answers a first request within this. */
const ANSWER_MS = 1_000;

/** An address on this machine; anything else would let callers reach through the daemon into its network. */
export function parseLoopback(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url?.hostname ?? "";
  const isLoopback = host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
  if (url?.protocol === "http:" && isLoopback) return url;
  throw new Fault("request/invalid", "A wait for `http` takes a loopback address such as http://127.0.0.1:3000/.", {
    validations: [{ field: "for.http", detail: "http:// and 127.0.0.0/8, [::1] or localhost" }],
  });
}

/** True when it answers with a status below 500. */
export function answersHttp(url: URL, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: ANSWER_MS, signal }, (response) => {
      resolve((response.statusCode ?? 500) < 500);
      request.destroy();
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
    request.on("close", () => resolve(false));
  });
}
