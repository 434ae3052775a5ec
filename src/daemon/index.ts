// daemon: puts the rooms together and keeps them up.
//
// The order matters and is the whole of run-daemon.ts: home (ours alone) → lock (one daemon per home) → configuration → store →
// secrets → supervisor (FIFO, keeper, adoption) → doors → daemon.json. Who finds daemon.json finds a daemon that answers.
//
// Invariants: only config.ts reads settings, once; whatever fails on the way up closes what was opened before it; a daemon that
// closes leaves every process running; an error nobody expected is logged and never ends the daemon.
//
// Read: run-daemon.ts, config.ts, home.ts, secrets.ts, ready-file.ts, measures.ts, cgroup.ts.
export { type Daemon, type DaemonOptions, runDaemon } from "./run-daemon.ts";
