import { InvalidArgumentError } from "commander";
import { Fault, type StartRequest } from "../contract/index.ts";

/** The options of `drover start` as commander reads them. */
export interface StartOptions {
  command?: string;
  tty?: boolean;
  interactive?: boolean;
  label?: string;
  workdir?: string;
  env?: string[];
  shell?: string;
  login?: boolean;
  stdin?: string;
  timeout?: number;
  idleTimeout?: number;
  grace?: number;
  streams?: "merged" | "split";
  memory?: number;
  pids?: number;
  clientToken?: string;
  wait?: boolean;
  chat?: string;
  quiet?: boolean;
}

/** What a request takes from the place where the command was typed. */
export interface Surroundings {
  /** Absent when the daemon may be on another machine. */
  workdir?: string | undefined;
  size?: { cols: number; rows: number } | undefined;
  term?: string | undefined;
  readonly variable: (name: string) => string | undefined;
}

/**
 * Words after `--` are run as they are, without a shell; `-c TEXT` is given to a shell. Nothing is guessed from blanks or
 * special characters: a path may hold them.
 */
export function toStartRequest(o: StartOptions, words: readonly string[], here: Surroundings): StartRequest {
  if (o.command === undefined && words.length === 0) {
    throw new Fault("process/command-required", "no command was given.", {
      detail: "drover start -- npm run dev\ndrover start -c 'make 2>&1 | tail'",
    });
  }
  if (o.command !== undefined && words.length > 0) {
    throw new Fault("process/command-required", "give either -c TEXT or words after --, not both.");
  }
  if (o.command === undefined && (o.shell !== undefined || o.login)) {
    throw new Fault("request/invalid", "--shell and --login go with -c TEXT.");
  }
  const workdir = o.workdir ?? here.workdir;
  const env = toEnvironment(o, here);
  const limits = { ...put("memory_bytes", o.memory), ...put("pids", o.pids) };
  return {
    ...(o.command === undefined ? { argv: [...words] } : { command: o.command }),
    ...put("workdir", workdir),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...put("shell", o.shell),
    ...put("login", o.login),
    ...put("tty", o.tty),
    ...(o.tty ? here.size : {}),
    ...put("stdin", toStdin(o)),
    ...put("label", o.label),
    ...put("client_token", o.clientToken),
    ...put("timeout_ms", o.timeout),
    ...put("idle_timeout_ms", o.idleTimeout),
    ...put("stop_grace_ms", o.grace),
    ...put("streams", o.streams),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
}

/** `-` is fed through the open stdin while we have some, whatever its length. */
function toStdin(o: StartOptions): StartRequest["stdin"] | undefined {
  if (o.stdin === undefined) return o.interactive ? { open: true } : undefined;
  if (o.tty) throw new Fault("request/invalid", "--stdin does not go with --tty; use `drover attach`.");
  if (o.stdin === "-") return { open: true };
  return o.interactive ? { open: true, data: o.stdin } : o.stdin;
}

function toEnvironment(o: StartOptions, here: Surroundings): Record<string, string> {
  const env: Record<string, string> = {};
  if (o.tty && here.term !== undefined) env["TERM"] = here.term;
  for (const entry of o.env ?? []) {
    const at = entry.indexOf("=");
    const name = at < 0 ? entry : entry.slice(0, at);
    const value = at < 0 ? here.variable(name) : entry.slice(at + 1);
    if (value === undefined) throw new Fault("request/invalid", `--env ${name}: this variable is not set here.`);
    env[name] = value;
  }
  return env;
}

/** Checks the form of `--env` while the command line is read. */
export function addVariable(text: string, before: string[] | undefined): string[] {
  if (!/^[^=\s]+(=|$)/.test(text)) throw new InvalidArgumentError("Write NAME=VALUE, or NAME to pass yours on.");
  return [...(before ?? []), text];
}

function put<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
