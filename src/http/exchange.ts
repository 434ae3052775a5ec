import type { ServerResponse } from "node:http";
import type { Caller, Grant } from "../contract/index.ts";
import type { ReplyHeaders } from "./answer.ts";
import type { Door, HeaderReader } from "./auth.ts";
import { type Asker, readAsker, toCaller } from "./caller.ts";

/** What the listener knows about a request beside the request. `outgoing` is absent when nothing listens. */
export interface Arrival {
  readonly door: Door;
  readonly outgoing?: ServerResponse;
}

/** One request before it is known who asks. */
export interface Knock {
  readonly request: Request;
  readonly arrival: Arrival;
  readonly header: HeaderReader;
  /** Behind the `?`. */
  readonly search: string;
  readonly asker: Asker;
  readonly startedAt: number;
  /** Ends the operation: the caller is gone, or nobody waits for the answer any more. */
  abort(): void;
}

/** One request being answered. */
export interface Exchange extends Knock {
  readonly caller: Caller;
}

export function openKnock(request: Request, arrival: Arrival): Knock {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const { outgoing } = arrival;
  // `close` before the answer was finished means that the client hung up.
  if (outgoing) outgoing.once("close", () => outgoing.writableFinished || abort());
  else request.signal.addEventListener("abort", abort, { once: true });
  const header = (name: string) => request.headers.get(name) ?? undefined;
  return {
    request,
    arrival,
    header,
    search: searchOf(request.url),
    asker: readAsker(header, controller.signal),
    startedAt: performance.now(),
    abort,
  };
}

export function openExchange(knock: Knock, grant: Grant): Exchange {
  return { ...knock, caller: toCaller(knock.asker, grant) };
}

/** Goes with every answer; an allowed foreign page may also read it. */
export function replyHeaders(caller: Asker, foreignOrigin: string | undefined): ReplyHeaders {
  const headers = { "X-Request-Id": caller.requestId };
  if (!foreignOrigin) return headers;
  return {
    ...headers,
    "Access-Control-Allow-Origin": foreignOrigin,
    "Access-Control-Expose-Headers":
      "X-Request-Id, Drover-Log-From, Drover-Log-To, Drover-Log-End, Drover-Log-Next, Drover-File-Size",
    Vary: "Origin",
  };
}

function searchOf(url: string): string {
  const at = url.indexOf("?");
  return at === -1 ? "" : (url.slice(at + 1).split("#", 1)[0] ?? "");
}
