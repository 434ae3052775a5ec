// Starts and ends what is measured: Drover's daemon in a fresh home, and the same API on child_process.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpClient } from "./http-client.mjs";
import { residentKb } from "./proc.mjs";
import { sleep } from "./statistics.mjs";

const READY_MS = 60_000;
const root = fileURLToPath(new URL("../..", import.meta.url));
const support = (name) => fileURLToPath(new URL(name, import.meta.url));
const preload = (names) => names.flatMap((name) => ["--import", support(name)]);

/** The path of a C program of bench/programs, as the Makefile builds it. */
export const program = (name) => join(root, "build/bench", name);

/** The environment without anything that would make a daemon think of another one. */
function cleanEnvironment(extra) {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("DROVER_") && !name.startsWith("npm_"));
  return { ...Object.fromEntries(own), ...extra };
}

/** `serve` in `home`, ready to be asked. `residentMb` makes it that big; `gapsFile` records how long its event loop is held. */
export async function startDrover({ home, config, residentMb = 0, gapsFile, nodeOptions = [] }) {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (config) writeFileSync(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const log = openSync(join(home, "bench.log"), "a", 0o600);
  const preloads = preload([...(residentMb ? ["ballast.mjs"] : []), ...(gapsFile ? ["loop-gaps.mjs"] : [])]);
  const main = [join(root, "dist/cli/main.js"), "serve", "--port", "0", "--home", home];
  const env = cleanEnvironment({ BENCH_BALLAST_MB: String(residentMb), ...(gapsFile && { BENCH_GAPS: gapsFile }) });
  const child = spawn(process.execPath, [...preloads, ...nodeOptions, ...main], { env, stdio: ["ignore", log, log] });
  closeSync(log);
  const facts = await waitUntilReady(child, home);
  await waitUntilResident(child.pid, residentMb);
  const daemon = {
    child,
    pid: child.pid,
    home,
    url: facts.url,
    token: readFileSync(join(home, "token"), "utf8").trim(),
  };
  return { ...daemon, kill: () => end(child, () => child.kill("SIGKILL")), stop: () => stopAll(daemon) };
}

async function waitUntilReady(child, home) {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const facts = readFacts(home);
    if (facts?.pid === child.pid) return facts;
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`the daemon did not get ready:\n${readFileSync(join(home, "bench.log"), "utf8").slice(-4000)}`);
    }
    await sleep(1);
  }
}

function readFacts(home) {
  try {
    return JSON.parse(readFileSync(join(home, "daemon.json"), "utf8"));
  } catch {
    return undefined; // not written yet
  }
}

async function waitUntilResident(pid, megabytes) {
  const deadline = performance.now() + READY_MS;
  while (residentKb(pid) * 1024 < megabytes * 1e6) {
    if (performance.now() > deadline) throw new Error(`the daemon did not reach ${megabytes} MB`);
    await sleep(20);
  }
}

/** Ends the daemon and everything that it started. */
async function stopAll(daemon) {
  if (daemon.child.exitCode !== null || daemon.child.signalCode !== null) return;
  const client = await HttpClient.connect(daemon);
  await end(daemon.child, () => client.post("/api/v0/shutdown", { stop_all: true }).catch(() => daemon.child.kill()));
  client.close();
}

/** The same API on child_process. */
export async function startChildDaemon({ residentMb = 0, gapsFile } = {}) {
  const preloads = preload([...(residentMb ? ["ballast.mjs"] : []), ...(gapsFile ? ["loop-gaps.mjs"] : [])]);
  const env = cleanEnvironment({ BENCH_BALLAST_MB: String(residentMb), ...(gapsFile && { BENCH_GAPS: gapsFile }) });
  const child = spawn(process.execPath, [...preloads, support("child-daemon.mjs")], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const line = await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", () => reject(new Error("the child_process daemon did not start")));
  });
  await waitUntilResident(child.pid, residentMb);
  return { pid: child.pid, ...JSON.parse(line), stop: () => end(child, () => child.stdin.end()) };
}

async function end(child, ask) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  await ask();
  await gone;
}
