import type { Rooms } from "./create.ts";
import type { Measure } from "./metrics.ts";
import type { Operations } from "./table.ts";
import { toTime } from "./wire.ts";

type Names = "daemon.status" | "daemon.shutdown" | "daemon.metrics" | "daemon.health";

/** The daemon about itself. */
export function daemonOperations({ supervisor, daemon, metrics, git }: Rooms): Pick<Operations, Names> {
  return {
    "daemon.status"() {
      const { running, exited, lost, quarantined, adopted, logBytes } = supervisor.counts;
      return {
        version: daemon.version,
        protocol: daemon.protocol,
        pid: process.pid,
        machine_id: daemon.machineId,
        machine_name: daemon.machineName,
        home: daemon.home,
        url: daemon.url(),
        socket: daemon.socket,
        started_at: toTime(daemon.startedAtMs),
        running,
        exited,
        lost,
        quarantined,
        adopted,
        log_bytes: logBytes,
        rss_bytes: process.memoryUsage.rss(),
        features: [...daemon.features],
        git: git.facts(),
      };
    },

    async "daemon.shutdown"({ stop_all: stopAll }) {
      const stopped = stopAll ? await supervisor.stopAll() : 0;
      const { running } = supervisor.counts;
      daemon.shutDown();
      return { shutting_down: true, left_running: running, stopped };
    },

    "daemon.metrics": () => metrics.format([...measureProcesses(supervisor.counts), ...daemon.measures()]),

    "daemon.health": () => ({ ok: true, version: daemon.version }),
  };
}

function measureProcesses(counts: Rooms["supervisor"]["counts"]): Measure[] {
  const counter = (name: string, help: string, value: number): Measure => ({
    name: `drover_${name}`,
    kind: "counter",
    help,
    value,
  });
  const gauge = (name: string, help: string, value: number): Measure => ({
    name: `drover_${name}`,
    kind: "gauge",
    help,
    value,
  });
  return [
    counter("processes_started_total", "Processes started by this daemon.", counts.started),
    counter("processes_failed_total", "Starts that failed.", counts.failed),
    counter("processes_lost_total", "Processes whose supervisor was lost while this daemon ran.", counts.lostSeen),
    counter("processes_removed_total", "Records removed by retention or on request.", counts.removed),
    gauge("processes_running", "Processes whose command is alive.", counts.running),
    gauge("processes_lost", "Records in the state lost.", counts.lost),
    gauge("processes_adopted", "Running processes taken over at the last start.", counts.adopted),
    counter("hints_total", "Hints heard from shims.", counts.hints),
    counter("sweeps_total", "Comparisons of records with the truth on disk.", counts.sweeps),
    gauge("shim_connections", "Open control connections.", counts.connections),
    gauge("log_bytes", "Disk use of run directories, as last measured.", counts.logBytes),
  ];
}
