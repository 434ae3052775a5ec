// What a start request becomes: the meta file, and the frame for the keeper. Decides everything that can be decided before a
// process exists, so that most mistakes are answered by name and leave nothing behind.
import { basename, isAbsolute, resolve } from "node:path";
import {
  type Caller,
  type Config,
  Fault,
  type MachineId,
  type ProcessId,
  type ProcessMeta,
  type StartRequest,
} from "../contract/index.ts";
import type { LaunchSpec } from "../native/index.ts";
import { composeEnvironment } from "./environment.ts";

/** Linux' MAX_ARG_STRLEN (execve(2)): one argument or variable with its final NUL. */
const STRING_BYTES = 131_072;
/** Both ends of a log must hold what the summary shows. */
const LOG_PART_BYTES = 16_384;
const PAGE = 4_096;
/** What the kernel's own tools search when there is no PATH. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Questions to the file system, handed in. */
export interface Lookup {
  /** `ok`, or why a process cannot be started there. */
  directory(path: string): "ok" | "missing" | "not-directory" | "forbidden";
  /** `file` exists but may not be executed. */
  program(path: string): "executable" | "file" | "missing";
  /** Where a name is found on a PATH, as execvp does it: an executable wins; a plain file is named only when there is none. */
  search(name: string, path: string, cwd: string): string | undefined;
}

export interface PlanInput {
  request: StartRequest;
  caller: Caller;
  config: Config;
  id: ProcessId;
  machineId: MachineId;
  seq: number;
  nowMs: number;
  /** Of the daemon: its directory, home and PATH. */
  here: { cwd: string; home: string | undefined; path: string | undefined };
  lookup: Lookup;
  runDir: string;
  digests?: { token: string; request: string } | undefined;
}

export interface LaunchPlan {
  meta: ProcessMeta;
  spec: LaunchSpec;
}

/** The directory a request starts in; asked first, because the environment hook is called with it. */
export function planDirectory(o: Pick<PlanInput, "request" | "config" | "here" | "lookup">): string {
  const asked = o.request.workdir;
  if (asked) {
    refuseNul("workdir", asked);
    const path = isAbsolute(asked) ? asked : resolve(o.here.cwd, asked);
    const found = o.lookup.directory(path);
    if (found === "ok") return path;
    throw badWorkdir(path, found);
  }
  for (const path of [o.config.directory, o.here.home]) {
    if (path && o.lookup.directory(path) === "ok") return path;
  }
  return o.here.cwd;
}

/** Everything else. `base` holds the environment before the request's own, earlier loses. */
export function planLaunch(
  o: PlanInput,
  workdir: string,
  base: readonly Readonly<Record<string, string>>[],
): LaunchPlan {
  const { request } = o;
  checkCommand(request);
  checkVariables(request.env);
  const env = composeEnvironment({
    base,
    request: request.env,
    chatId: o.caller.chatId,
    processId: o.id,
    tty: request.tty === true,
  });
  const program = request.argv ? planArgv(request.argv, workdir, env["PATH"], o) : planShell(request, o);
  const meta = createMeta(o, workdir, program);
  const spec = createSpec(
    o,
    meta,
    Object.entries(env).map(([k, v]) => `${k}=${v}`),
  );
  refuseTooLong(spec);
  return { meta, spec };
}

interface Program {
  argv: string[];
  execPath: string;
  shell?: string;
}

function checkCommand(request: StartRequest): void {
  if (request.argv && request.command) {
    throw new Fault("process/command-required", "Give either command or argv, not both.");
  }
  if (!request.argv && !request.command) throw new Fault("process/command-required", "Command is required.");
  if (request.argv && request.argv[0] === "") throw new Fault("process/command-required", "Command is required.");
  refuseNul("command", request.command ?? "");
  request.argv?.forEach((argument, i) => refuseNul(`argv[${i}]`, argument));
}

function checkVariables(env: Readonly<Record<string, string>> | undefined): void {
  for (const [name, value] of Object.entries(env ?? {})) {
    if (name === "" || name.includes("=")) {
      throw invalid("env", `the name ${JSON.stringify(name)} is empty or holds "="`);
    }
    refuseNul(`env.${name}`, name);
    refuseNul(`env.${name}`, value);
  }
}

function planShell(request: StartRequest, o: PlanInput): Program {
  const shell = request.shell || "sh";
  refuseNul("shell", shell);
  const execPath = shell.includes("/")
    ? resolve(o.here.cwd, shell)
    : o.lookup.search(shell, o.here.path ?? DEFAULT_PATH, o.here.cwd);
  if (execPath === undefined || o.lookup.program(execPath) !== "executable") {
    throw new Fault("process/unknown-shell", `The shell ${JSON.stringify(shell)} was not found or is not executable.`, {
      detail: shell.includes("/") ? execPath : `looked for on the daemon's PATH: ${o.here.path ?? DEFAULT_PATH}`,
    });
  }
  const argv = [basename(shell), ...(request.login ? ["-l"] : []), "-c", request.command ?? ""];
  return { argv, execPath, shell };
}

function planArgv(argv: readonly string[], workdir: string, path: string | undefined, o: PlanInput): Program {
  const name = argv[0] ?? "";
  if (name.includes("/")) return { argv: [...argv], execPath: isAbsolute(name) ? name : `${workdir}/${name}` };
  const execPath = o.lookup.search(name, path ?? DEFAULT_PATH, workdir);
  if (execPath === undefined) {
    throw new Fault("process/command-not-found", `The command ${JSON.stringify(name)} was not found.`, {
      detail: `looked for on the PATH of the process: ${path ?? DEFAULT_PATH}`,
    });
  }
  return { argv: [...argv], execPath };
}

function createMeta(o: PlanInput, workdir: string, program: Program): ProcessMeta {
  const { request, caller, config } = o;
  const total = Math.min(request.log_bytes ?? config.log_bytes, config.log_bytes);
  const head = wholePages(Math.min(config.log_head_bytes, Math.max(LOG_PART_BYTES, total / 4)));
  const tty = request.tty === true;
  return withoutAbsent({
    layout: 1,
    id: o.id,
    machine_id: o.machineId,
    seq: o.seq,
    command: request.command || program.argv.join(" "),
    argv: program.argv,
    exec_path: program.execPath,
    shell: program.shell,
    workdir,
    background: request.background ?? false,
    label: request.label,
    chat_id: caller.chatId,
    ancestor_chat_ids: caller.ancestorChatIds.length > 0 ? [...caller.ancestorChatIds] : undefined,
    tty,
    cols: tty ? (request.cols ?? 80) : undefined,
    rows: tty ? (request.rows ?? 24) : undefined,
    streams: tty ? "tty" : (request.streams ?? "merged"),
    stdin: planStdin(request),
    log_head: head,
    log_ring: Math.max(LOG_PART_BYTES, wholePages(total - head)),
    timeout_ms: request.timeout_ms,
    idle_timeout_ms: request.idle_timeout_ms,
    stop_grace_ms: request.stop_grace_ms ?? config.stop_grace_ms,
    on_chat_end: request.on_chat_end ?? "keep",
    limits: request.limits,
    client_token_digest: o.digests?.token,
    request_digest: o.digests?.request,
    traceparent: caller.traceparent,
    request_id: caller.requestId,
    created_at_ms: o.nowMs,
  });
}

function createSpec(o: PlanInput, meta: ProcessMeta, env: string[]): LaunchSpec {
  const { request, config } = o;
  const data = typeof request.stdin === "string" ? request.stdin : request.stdin?.data;
  const limits = withoutAbsent({ oom_score_adj: config.oom_score_adj, nice: config.nice, ...request.limits });
  return withoutAbsent({
    id: o.id,
    runDir: o.runDir,
    cwd: meta.workdir,
    execPath: meta.exec_path,
    argv: meta.argv,
    env,
    tty: meta.tty,
    cols: meta.cols,
    rows: meta.rows,
    split: meta.streams === "split",
    stdin: meta.stdin,
    stdinData: data ? Buffer.from(data) : undefined,
    logHead: meta.log_head,
    logRing: meta.log_ring,
    timeoutMs: meta.timeout_ms,
    idleMs: meta.idle_timeout_ms,
    graceMs: meta.stop_grace_ms,
    limits,
  });
}

/** An empty text is a stdin that is at its end at once, which /dev/null is too. */
function planStdin(request: StartRequest): ProcessMeta["stdin"] {
  if (request.tty || typeof request.stdin === "object") return "open";
  return request.stdin ? "closed" : "null";
}

function refuseTooLong(spec: LaunchSpec): void {
  for (const text of [...spec.argv, ...spec.env]) {
    if (text.length * 3 >= STRING_BYTES && Buffer.byteLength(text) >= STRING_BYTES) {
      throw new Fault(
        "process/too-long",
        "An argument or variable is longer than the kernel takes (131071 bytes); pass large data through stdin or a file.",
      );
    }
  }
}

function badWorkdir(path: string, found: "missing" | "not-directory" | "forbidden"): Fault {
  const why = { missing: "does not exist", "not-directory": "is not a directory", forbidden: "cannot be entered" }[
    found
  ];
  return new Fault("process/bad-workdir", `The directory ${JSON.stringify(path)} ${why}.`, {
    validations: [{ field: "workdir", detail: why }],
  });
}

function refuseNul(field: string, text: string): void {
  if (text.includes("\0")) throw invalid(field, "holds a NUL byte");
}

function invalid(field: string, detail: string): Fault {
  return new Fault("request/invalid", `The field ${JSON.stringify(field)} is not acceptable: ${detail}.`, {
    validations: [{ field, detail }],
  });
}

function wholePages(bytes: number): number {
  return Math.floor(bytes / PAGE) * PAGE;
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };
/** Leaves out what is undefined, so that optional fields are absent. */
function withoutAbsent<T extends object>(value: T): Present<T> {
  for (const key of Object.keys(value) as (keyof T)[]) if (value[key] === undefined) delete value[key];
  return value as Present<T>;
}
