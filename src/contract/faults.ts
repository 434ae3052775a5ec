/** How a fault looks from outside: HTTP status, exit code of the CLI, and the sentence in docs/reference/faults.md. */
export interface FaultFacts {
  readonly status: number;
  readonly exit: number;
  readonly doc: string;
}

/** Every expected failure, closed: a code that is not here cannot be thrown. */
export const faults = {
  "request/invalid-json": { status: 400, exit: 2, doc: "The body is not JSON of the right shape." },
  "request/invalid": {
    status: 400,
    exit: 2,
    doc: "A value in the body, path or query is not acceptable; `validations` names each.",
  },
  "request/unknown-field": {
    status: 400,
    exit: 2,
    doc: "A strict request (`Drover-Strict: 1`) holds a field that does not exist; the nearest right one is named.",
  },
  "request/too-large": { status: 413, exit: 2, doc: "The body is over the bound of this route." },
  "request/stalled": { status: 408, exit: 1, doc: "The body stopped coming; nothing was changed. Send it again." },
  "auth/required": {
    status: 401,
    exit: 4,
    doc: "No bearer token was sent. `drover token` prints it; on the Unix socket none is needed.",
  },
  "auth/wrong-token": { status: 401, exit: 4, doc: "The token is not this daemon's, or was revoked." },
  "auth/expired": { status: 401, exit: 4, doc: "The token has expired; make a new one with `drover token create`." },
  "auth/read-only": { status: 403, exit: 4, doc: "The token may only read; this would change something." },
  "auth/chat-mismatch": {
    status: 403,
    exit: 4,
    doc: "The request names another chat than its token, or ends another chat than its own.",
  },
  "auth/out-of-scope": {
    status: 403,
    exit: 4,
    doc: "The token is bound to a chat, and this is beyond it: the daemon itself, tokens, or changing another chat's process.",
  },
  "auth/foreign-origin": {
    status: 403,
    exit: 4,
    doc: "A web page of another origin called. List it in `allowed_origins` if it is yours.",
  },
  "auth/foreign-host": {
    status: 403,
    exit: 4,
    doc: "The Host header names another host (DNS rebinding). List it in `allowed_hosts` if it is yours.",
  },
  "route/not-found": { status: 404, exit: 1, doc: "No route has this path." },
  "route/wrong-method": { status: 405, exit: 1, doc: "The path exists with another method." },
  "process/not-found": { status: 404, exit: 3, doc: "No process has this id, or it belongs to another chat." },
  "token/not-found": { status: 404, exit: 3, doc: "No token has this id; it may have been revoked already." },
  "process/ambiguous": {
    status: 409,
    exit: 3,
    doc: "Several processes match this prefix or label; give more characters.",
  },
  "process/not-running": {
    status: 409,
    exit: 5,
    doc: "The process has ended and left nothing that could be signalled.",
  },
  "process/command-required": { status: 400, exit: 2, doc: "Neither `command` nor `argv` was given, or both." },
  "process/command-not-found": { status: 400, exit: 127, doc: "`argv[0]` is not on the PATH of the process." },
  "process/not-executable": { status: 400, exit: 126, doc: "The file exists but cannot be executed." },
  "process/unknown-shell": { status: 400, exit: 2, doc: "The shell cannot be found or executed." },
  "process/bad-workdir": {
    status: 400,
    exit: 2,
    doc: "The directory does not exist, is not a directory, or cannot be entered.",
  },
  "process/too-long": {
    status: 400,
    exit: 2,
    doc: "Arguments and environment are over the kernel's limit; pass large data through stdin or a file.",
  },
  "process/token-conflict": {
    status: 409,
    exit: 5,
    doc: "This `client_token` was used in this chat for another request.",
  },
  "process/start-failed": {
    status: 500,
    exit: 125,
    doc: "The process could not be started; `detail` holds the kernel's reason.",
  },
  "process/signal-failed": { status: 500, exit: 1, doc: "The kernel refused the signal." },
  "process/unsupported-signal": { status: 400, exit: 2, doc: "No signal has this name." },
  "process/stop-incomplete": {
    status: 500,
    exit: 1,
    doc: "Something is left that the kernel does not let us end; `left` lists it with the reason.",
  },
  "process/no-stdin": {
    status: 409,
    exit: 5,
    doc: 'The process has no open stdin; start it with `stdin: {"open": true}` or `tty`.',
  },
  "process/stdin-full": {
    status: 429,
    exit: 5,
    doc: "The process does not read its stdin and the queue is full; try again later.",
  },
  "process/no-terminal": { status: 409, exit: 5, doc: "The process was started without `tty`." },
  "process/unreachable": {
    status: 409,
    exit: 5,
    doc: "Its supervisor is gone or does not answer; the state says what is known.",
  },
  "process/running": { status: 409, exit: 5, doc: "It still runs; stop it first." },
  "log/damaged": {
    status: 500,
    exit: 1,
    doc: "The state file of the process is damaged, so nobody can say which bytes of its log are whole.",
  },
  "regex/invalid": { status: 400, exit: 2, doc: "The regular expression does not compile." },
  "regex/too-slow": {
    status: 422,
    exit: 1,
    doc: "The regular expression takes too long on this text; make it simpler.",
  },
  "tool/unknown": { status: 404, exit: 2, doc: "No tool of this set has this name; the nearest right one is named." },
  "tool/bad-arguments": {
    status: 400,
    exit: 2,
    doc: "An argument of the tool is missing, unknown or not acceptable; the nearest right one is named.",
  },
  "search/busy": { status: 429, exit: 1, doc: "Too many searches run at once; try again." },
  "file/bad-path": {
    status: 400,
    exit: 2,
    doc: "The path is relative, holds a NUL, is too long or goes round in symbolic links.",
  },
  "file/not-found": { status: 404, exit: 3, doc: "There is no such file or directory." },
  "file/forbidden": {
    status: 403,
    exit: 4,
    doc: "The daemon's user may not do this to the file, or it cannot be written.",
  },
  "file/not-a-file": {
    status: 400,
    exit: 2,
    doc: "It is a directory, pipe, socket or device; only regular files are read and written.",
  },
  "file/not-a-directory": { status: 400, exit: 2, doc: "A part of the path that must be a directory is none." },
  "file/too-large": { status: 413, exit: 2, doc: "The file, directory or result is over the bound of this operation." },
  "file/no-match": { status: 400, exit: 2, doc: "The text to replace is not in the file; read the file again." },
  "file/ambiguous-match": {
    status: 400,
    exit: 2,
    doc: "The text to replace is there several times; give more of its surroundings, or `replace_all`.",
  },
  "file/same-file": { status: 400, exit: 2, doc: "Two paths of one request lead to one file; name it once." },
  "file/changed": { status: 409, exit: 5, doc: "Somebody else keeps changing the file; read it again." },
  "file/disk-full": { status: 507, exit: 1, doc: "No space or quota is left there; the file is as it was." },
  "file/failed": { status: 500, exit: 1, doc: "The file system failed; `detail` holds the kernel's reason." },
  "git/no-repository": {
    status: 404,
    exit: 3,
    doc: "No git repository holds this path, or it is none of this chat's.",
  },
  "store/disk-full": {
    status: 507,
    exit: 125,
    doc: "No space is left under DROVER_HOME; nothing was started. Free some, or lower `log_total_bytes`.",
  },
  "store/newer": {
    status: 500,
    exit: 125,
    doc: "The database was written by a newer Drover; install that version or use another DROVER_HOME.",
  },
  "daemon/shutting-down": { status: 503, exit: 4, doc: "The daemon is about to end; processes keep running." },
  "daemon/overloaded": {
    status: 503,
    exit: 1,
    doc: "A bound of this daemon is reached (`max_running`); stop something or raise it.",
  },
  "daemon/already-running": { status: 500, exit: 6, doc: "Another daemon holds this DROVER_HOME." },
  "daemon/not-running": { status: 500, exit: 4, doc: "No daemon answers, and none may be started here." },
  "daemon/port-taken": {
    status: 500,
    exit: 6,
    doc: "The TCP port is in use; choose another with `--port`, or `--port 0` for any.",
  },
  "daemon/home-unusable": {
    status: 500,
    exit: 6,
    doc: "DROVER_HOME cannot be used: missing permission, wrong owner or wrong mode.",
  },
  "daemon/start-failed": { status: 500, exit: 6, doc: "The daemon did not come up; its log says why." },
  "config/invalid": { status: 500, exit: 6, doc: "config.json holds an unknown key or a wrong value." },
  "native/missing": { status: 500, exit: 6, doc: "The C helpers are not built; run `make`." },
  "client/unreachable": { status: 500, exit: 4, doc: "The daemon cannot be reached at this address." },
  "internal/bug": { status: 500, exit: 70, doc: "A defect in Drover; the log holds its stack under the reference id." },
} as const satisfies Record<string, FaultFacts>;

/** A code of the closed table. */
export type FaultCode = keyof typeof faults;

/** One field that was not acceptable. */
export interface Validation {
  field: string;
  detail: string;
}

/** What may travel with a fault: `detail` for people, `validations` per field, `data` for programs. */
export interface FaultExtras {
  detail?: string | undefined;
  validations?: Validation[] | undefined;
  data?: Record<string, unknown> | undefined;
  cause?: unknown;
}

/** An expected failure. The message says what happened and what to do next. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly detail: string | undefined;
  readonly validations: Validation[] | undefined;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: FaultCode, message: string, extras: FaultExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.detail = extras.detail;
    this.validations = extras.validations;
    this.data = extras.data;
  }

  get facts(): FaultFacts {
    return faults[this.code];
  }
}

/** The error body on the wire: the process API's shape plus `code` and `data`. */
export interface FaultBody {
  message: string;
  code: FaultCode;
  detail?: string;
  validations?: Validation[];
  data?: Record<string, unknown>;
}
