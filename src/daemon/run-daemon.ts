import { hostname } from "node:os";
import { join } from "node:path";
import { createLog, defer, type Log, systemClock } from "../base/index.ts";
import { type Config, Fault, type MachineId } from "../contract/index.ts";
import type { GitWatch } from "../git/index.ts";
import { createHttp, type Http, type Listening } from "../http/index.ts";
import { PROTOCOL_VERSION } from "../native/index.ts";
import { createOperations, type DaemonFacts, Metrics } from "../operations/index.ts";
import { Supervisor } from "../process/index.ts";
import { lockHome, Store } from "../store/index.ts";
import { TokenBook } from "../tokens/index.ts";
import { findCgroup } from "./cgroup.ts";
import { readConfig } from "./config.ts";
import { openGitWatch } from "./git-places.ts";
import { openHome } from "./home.ts";
import { createMcpDoor } from "./mcp-door.ts";
import { Measures } from "./measures.ts";
import { removeReadyFile, writeReadyFile } from "./ready-file.ts";
import { readKey, readToken } from "./secrets.ts";
import { catchUnexpected } from "./unexpected.ts";

export interface DaemonOptions {
  home: string;
  version: string;
  /** The environment that processes start from; also DROVER_* settings. */
  env: Readonly<Record<string, string | undefined>>;
  /** From the command line; 0 takes any free port. */
  port?: number;
  /** Takes a free port when the configured one is taken: for a daemon that a command started by itself. */
  fallbackPort?: boolean;
  cwd?: string;
  log?: Log;
}

export interface Daemon {
  readonly url: string;
  readonly socket: string;
  readonly home: string;
  /** Resolves when everything is closed, whoever asked for it. */
  readonly closed: Promise<void>;
  /** Ends the daemon; processes keep running. */
  close(): Promise<void>;
}

/** The answer to a shutdown is on its way before the door closes. */
const ANSWER_FIRST_MS = 20;

/** Brings the daemon up; resolves when it answers. */
export async function runDaemon(options: DaemonOptions): Promise<Daemon> {
  const closers: Closers = [];
  try {
    return await bringUp(options, closers);
  } catch (error) {
    await closeAll(closers, options.log ?? createLog(2, "info"));
    throw error;
  }
}

type Closers = (() => void | Promise<void>)[];

async function bringUp(options: DaemonOptions, closers: Closers): Promise<Daemon> {
  const { home, version } = options;
  const rooms = await openRooms(options, closers);
  const { supervisor, tokens, log, config } = rooms;
  const socket = join(home, "drover.sock");
  const closed = defer<void>();
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeAll(closers, log).then(() => closed.resolve()));

  let listening: Listening | undefined;
  const facts = describeDaemon(options, rooms, {
    url: () => listening?.url ?? "",
    shutDown: () => void setTimeout(() => void close(), ANSWER_FIRST_MS),
  });
  const metrics = new Metrics();
  const operations = createOperations({
    supervisor,
    tokens,
    git: rooms.git,
    paths: rooms.git,
    config,
    daemon: facts,
    metrics,
  });
  const { allowed_hosts: allowedHosts, allowed_origins: allowedOrigins } = config;
  const auth = { token: readToken(home), tokens, allowedHosts, allowedOrigins };
  const mcp = createMcpDoor({ operations, version, log });
  const http = createHttp({ operations, auth, log, metrics, version, mcp });
  listening = await listen(http, config, socket, options.fallbackPort === true);
  closers.push(() => listening?.close());

  const { url } = listening;
  const { protocol, machineId: machine_id } = facts;
  const started_at = new Date(facts.startedAtMs).toISOString();
  writeReadyFile(home, { url, socket, pid: process.pid, version, protocol, machine_id, started_at });
  closers.push(() => removeReadyFile(home));
  const { adopted } = supervisor.counts;
  supervisor.announce("daemon.started", { version, pid: process.pid, adopted });
  closers.push(() => supervisor.announce("daemon.stopped", { version, pid: process.pid }));
  log.info("daemon is ready", { url, socket, home, version, adopted });
  return { url, socket, home, closed: closed.promise, close };
}

interface OpenRooms {
  config: Config;
  log: Log;
  machineId: MachineId;
  supervisor: Supervisor;
  tokens: TokenBook;
  git: GitWatch;
  measures: Measures;
  startedAtMs: number;
  cgroup: string | undefined;
}

async function openRooms(options: DaemonOptions, closers: Closers): Promise<OpenRooms> {
  const { home, env } = options;
  const startedAtMs = systemClock.now();
  openHome(home);
  const lock = lockHome(home);
  closers.push(() => lock.close());
  const config = readConfig(home, env, options.port === undefined ? {} : { port: options.port });
  const log = options.log ?? createLog(2, config.log_level);
  closers.push(catchUnexpected(log));
  const store = Store.open(home, { log, now: () => systemClock.now() });
  closers.push(() => store.close());
  const machineId = store.machine().id;
  const cgroup = findCgroup();
  const cwd = options.cwd ?? process.cwd();
  const key = readKey(home);
  const supervisor = await Supervisor.open({ home, config, store, machineId, key, env, cwd, log, cgroup });
  closers.push(() => supervisor.close());
  const tokens = TokenBook.open({ store, clock: systemClock, log });
  closers.push(() => tokens.close());
  const watched = openGitWatch({ store, supervisor, env, clock: systemClock, log });
  closers.push(() => watched.close());
  const measures = new Measures(startedAtMs);
  closers.push(() => measures.close());
  return { config, log, machineId, supervisor, tokens, git: watched.git, measures, startedAtMs, cgroup };
}

function describeDaemon(
  { home, version }: DaemonOptions,
  { config, machineId, measures, startedAtMs, cgroup }: OpenRooms,
  live: Pick<DaemonFacts, "url" | "shutDown">,
): DaemonFacts {
  return {
    version,
    protocol: PROTOCOL_VERSION,
    machineId,
    machineName: config.machine_name ?? hostname(),
    home,
    socket: join(home, "drover.sock"),
    startedAtMs,
    features: ["tty", "split", "watch", ...(cgroup === undefined ? [] : ["cgroup"])],
    ...live,
    measures: () => measures.read(),
  };
}

/** Last opened, first closed; one that fails does not keep the others open. */
async function closeAll(closers: Closers, log: Log): Promise<void> {
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      log.error("something could not be closed", { error });
    }
  }
}

async function listen(http: Http, config: Config, socketPath: string, mayFallBack: boolean): Promise<Listening> {
  const { host, port } = config;
  try {
    return await http.listen({ tcp: { host, port }, socketPath });
  } catch (error) {
    if (!(error instanceof Fault)) {
      throw new Fault("daemon/start-failed", `The daemon cannot listen on ${host}:${port} and ${socketPath}.`, {
        detail: error instanceof Error ? error.message : String(error),
        cause: error,
      });
    }
    if (error.code !== "daemon/port-taken" || !mayFallBack) throw error;
    return await http.listen({ tcp: { host, port: 0 }, socketPath });
  }
}
