import { execFile } from "node:child_process";
import type { Clock, Log } from "../base/index.ts";
import type { ChatId, Config, ProcessId } from "../contract/index.ts";

type Variables = Readonly<Record<string, string>>;

/** A hook that takes longer is left out: a start must not wait for it. */
const HOOK_LIMIT_MS = 5_000;
/** More than the kernel would take as an environment anyway. */
const HOOK_OUTPUT_BYTES = 2 << 20;
/** Answers kept; a home with more chats than this asks the hook again. */
const HOOK_CACHE_ENTRIES = 256;

/** What of the daemon's own environment every process gets: never Drover's own variables or the agent's priority settings. */
export function inheritedVariables(config: Config, own: Readonly<Record<string, string | undefined>>): Variables {
  const allowed = config.env_policy === "allow" ? new Set(config.env_allow) : undefined;
  const kept = Object.entries(own).filter(
    ([name, value]) => value !== undefined && !isPrivate(name) && (allowed === undefined || allowed.has(name)),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

function isPrivate(name: string): boolean {
  return name.startsWith("DROVER_") || name.startsWith("CODER_PROC_");
}

export interface EnvironmentParts {
  /** Inherited, then configured, then from the hook: earlier loses. */
  base: readonly Variables[];
  request: Variables | undefined;
  chatId: ChatId | undefined;
  processId: ProcessId;
  tty: boolean;
}

/** The environment of one process. */
export function composeEnvironment(parts: EnvironmentParts): Record<string, string> {
  const env: Record<string, string> = Object.assign({}, ...parts.base, parts.request);
  if (parts.tty && !env["TERM"]) env["TERM"] = "xterm-256color";
  if (parts.chatId !== undefined) {
    env["CODER_CHAT_ID"] = parts.chatId;
    env["DROVER_CHAT_ID"] = parts.chatId;
  }
  env["DROVER_PROCESS_ID"] = parts.processId;
  return env;
}

/** Asks `env_hook` for variables, and remembers its answer for a while by chat and directory. */
export class EnvironmentHook {
  readonly #config: Config;
  readonly #own: Variables;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #cache = new Map<string, { untilMs: number; answer: Promise<Variables> }>();

  constructor(o: { config: Config; own: Variables; clock: Clock; log: Log }) {
    this.#config = o.config;
    this.#own = o.own;
    this.#clock = o.clock;
    this.#log = o.log;
  }

  get configured(): boolean {
    return this.#config.env_hook !== undefined;
  }

  /** Never rejects: a hook that fails is logged and left out. */
  ask(chat: ChatId | undefined, directory: string): Promise<Variables> {
    const key = `${chat ?? ""}\0${directory}`;
    const known = this.#cache.get(key);
    if (known && known.untilMs > this.#clock.now()) return known.answer;
    const answer = this.#run(chat, directory);
    this.#cache.delete(key);
    this.#cache.set(key, { untilMs: this.#clock.now() + this.#config.env_hook_cache_ms, answer });
    const oldest = this.#cache.keys().next();
    if (this.#cache.size > HOOK_CACHE_ENTRIES && !oldest.done) this.#cache.delete(oldest.value);
    return answer;
  }

  #run(chat: ChatId | undefined, directory: string): Promise<Variables> {
    const { env_hook: hook = "", env_hook_null: byNull } = this.#config;
    const argv = [...(byNull ? ["-0"] : []), chat ?? "", directory];
    const options = {
      timeout: HOOK_LIMIT_MS,
      maxBuffer: HOOK_OUTPUT_BYTES,
      killSignal: "SIGKILL",
      env: this.#own,
    } as const;
    return new Promise((resolve) => {
      execFile(hook, argv, options, (error, stdout) => {
        if (error) this.#log.warn("env_hook failed and was left out", { hook, code: error.code, signal: error.signal });
        resolve(error ? {} : parseVariables(stdout, byNull));
      }).on("error", () => undefined);
    });
  }
}

/** `NAME=VALUE` lines, or entries ended by NUL; what has no name is left out. */
export function parseVariables(text: string, byNull: boolean): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of text.split(byNull ? "\0" : /\r?\n/)) {
    const at = entry.indexOf("=");
    if (at > 0 && !entry.includes("\0")) found[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return found;
}
