import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** What a command line may say in front of or behind any command. */
export interface GlobalFlags {
  json?: boolean;
  home?: string;
  url?: string;
  /** False for `--no-spawn`. */
  spawn?: boolean;
}

/** Everything taken from the surroundings, once. No other file of this room reads the environment. */
export interface Settings {
  readonly home: string;
  /** A daemon named by address; then the home's socket is not used and none is started. */
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly json: boolean;
  /** Whether a daemon may be started when none answers. */
  readonly maySpawn: boolean;
  /** Set when this program itself runs inside a supervised process. */
  readonly insideProcess: string | undefined;
  /** `$TERM`, for processes that get a terminal. */
  readonly term: string | undefined;
  readonly path: string;
  /** A variable by name, for `--env NAME`. */
  readonly variable: (name: string) => string | undefined;
  /** For a daemon that is started: ours, without what addresses this one call. */
  readonly daemonEnvironment: Record<string, string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(flags: GlobalFlags, env: Environment = process.env): Settings {
  const home = resolve(flags.home ?? nonEmpty(env["DROVER_HOME"]) ?? join(userHome(env), ".drover"));
  const url = flags.url ?? (flags.home === undefined ? nonEmpty(env["DROVER_URL"]) : undefined);
  const insideProcess = nonEmpty(env["DROVER_PROCESS_ID"]);
  return Object.freeze({
    home,
    url,
    token: nonEmpty(env["DROVER_TOKEN"]),
    json: flags.json === true,
    maySpawn: flags.spawn !== false && url === undefined && insideProcess === undefined,
    insideProcess,
    term: nonEmpty(env["TERM"]),
    path: env["PATH"] ?? "",
    variable: (name: string) => env[name],
    daemonEnvironment: forDaemon(env, home),
  });
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function userHome(env: Environment): string {
  const home = env["HOME"];
  return home && isAbsolute(home) ? home : homedir();
}

function forDaemon(env: Environment, home: string): Record<string, string> {
  const own = new Set(["DROVER_URL", "DROVER_TOKEN", "DROVER_PROCESS_ID"]);
  const kept = Object.entries(env).filter((e): e is [string, string] => e[1] !== undefined && !own.has(e[0]));
  return { ...Object.fromEntries(kept), DROVER_HOME: home };
}
