import { constants } from "node:os";
import { Fault, type FaultCode } from "../contract/index.ts";

/** What was asked of the shim. */
export type ShimRequest = "hello" | "status" | "subscribe" | "stdin" | "resize" | "signal" | "stop" | "look";

const { errno } = constants;
const byRequest: Partial<Record<ShimRequest, Record<number, FaultCode>>> = {
  stdin: {
    [errno.EPIPE]: "process/no-stdin",
    [errno.EBADF]: "process/no-stdin",
    [errno.EAGAIN]: "process/stdin-full",
  },
  resize: { [errno.ENOTTY]: "process/no-terminal", [errno.EINVAL]: "request/invalid" },
  signal: {
    [errno.ESRCH]: "process/not-running",
    [errno.EINVAL]: "process/unsupported-signal",
    [errno.EPERM]: "process/signal-failed",
    [errno.EACCES]: "process/signal-failed",
  },
};
const otherwise: Partial<Record<ShimRequest, FaultCode>> = {
  stdin: "process/no-stdin",
  signal: "process/signal-failed",
};

const sentences: Partial<Record<FaultCode, string>> = {
  "process/no-stdin": "The process has no open stdin.",
  "process/stdin-full": "The process does not read its stdin and the queue is full; try again later.",
  "process/no-terminal": "The process has no terminal; start it with `tty`.",
  "process/not-running": "The process has ended and left nothing that could be signalled.",
  "process/unsupported-signal": "No signal has this number.",
  "process/signal-failed": "The kernel refused the signal.",
  "request/invalid": "The shim refused the values.",
};

/** FRAME_ERROR as the fault that its request means. */
export function toFault(request: ShimRequest, number: number, text: string): Fault {
  const code = byRequest[request]?.[number] ?? otherwise[request] ?? "process/unreachable";
  const message = sentences[code] ?? "The supervisor of this process refused the request.";
  return new Fault(code, message, { detail: `${text} (errno ${number})` });
}

/** The shim is gone, or does not answer. */
export function unreachable(detail: string, cause?: unknown): Fault {
  return new Fault("process/unreachable", "The supervisor of this process cannot be reached.", { detail, cause });
}
