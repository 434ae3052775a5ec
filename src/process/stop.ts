import { setTimeout as sleep } from "node:timers/promises";
import { ignore, signalName } from "../base/index.ts";
import { Fault, type ProcessId, type StopAnswer } from "../contract/index.ts";
import type { ShimStopped, StopStep } from "../native/index.ts";
import type { Core } from "./core.ts";
import { signalSurvivors, stopSurvivors } from "./orphans.ts";
import type { ProcessRecord } from "./record.ts";

const SIGTERM = 15;
const SIGKILL = 9;
/** After a stop the shim still writes its last slot; then its facts are complete. */
const LAST_WORDS_MS = 1_000;
const LAST_WORDS_POLL_MS = 5;

/** Ends whole trees. Concurrent stops of one process join the first. */
export class Stops {
  readonly #core: Core;
  readonly #underWay = new Map<ProcessId, Promise<StopAnswer>>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** Answers when nothing is left; Fault process/stop-incomplete when something is. */
  async stop(record: ProcessRecord, steps?: readonly StopStep[]): Promise<StopAnswer> {
    let stopping = this.#underWay.get(record.id);
    if (!stopping) {
      const done = () => this.#underWay.delete(record.id);
      stopping = this.#stop(record, completeSteps(steps, record.meta.stop_grace_ms)).finally(done);
      this.#underWay.set(record.id, stopping);
    }
    const answer = await stopping;
    if (answer.left.length === 0) return answer;
    const list = answer.left.map((l) => `${l.pid} (${l.why})`).join(", ");
    throw new Fault("process/stop-incomplete", `Something is left that could not be ended: ${list}.`, {
      data: { ...answer, stopped: false },
    });
  }

  /** Reaches the command's group, or what it left behind. */
  async signal(record: ProcessRecord, signo: number, scope: "group" | "leader" | "tree"): Promise<number> {
    if (record.ended) throw notRunning(record.id);
    if (record.facts.supervised) {
      const reached = await this.#signalByShim(record, signo, scope);
      if (reached !== undefined) return reached;
    }
    const reached = record.ended ? 0 : await signalSurvivors(this.#core, record, signo, scope);
    if (reached === 0) throw notRunning(record.id);
    return reached;
  }

  /** Undefined when the shim turned out to be gone. */
  async #signalByShim(
    record: ProcessRecord,
    signo: number,
    scope: "group" | "leader" | "tree",
  ): Promise<number | undefined> {
    try {
      return await this.#core.connections.use(record, (connection) =>
        connection.signal(signo, scope, "signalled_by_user"),
      );
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "process/not-running") throw notRunning(record.id);
      if (error.code !== "process/unreachable") throw error;
      this.#core.examine(record);
      if (record.facts.supervised && !record.ended) throw error;
      return undefined;
    }
  }

  async #stop(record: ProcessRecord, steps: readonly StopStep[]): Promise<StopAnswer> {
    if (record.ended) return answerFrom(record, [], []);
    if (record.facts.supervised) {
      const stopped = await this.#stopByShim(record, steps);
      if (stopped) return stopped;
    }
    if (record.ended) return answerFrom(record, [], []);
    const rest = await stopSurvivors(this.#core, record, steps);
    return answerFrom(record, rest.ended, rest.left);
  }

  /** Undefined when the shim is gone, or went in the middle of it. */
  async #stopByShim(record: ProcessRecord, steps: readonly StopStep[]): Promise<StopAnswer | undefined> {
    let stopped: ShimStopped;
    try {
      stopped = await this.#core.connections.use(record, (connection) => connection.stop([...steps], "stopped"));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "process/unreachable") throw error;
      ignore(error, "the state file and /proc say what is left");
      this.#core.examine(record);
      // Ended in the moment in which we asked: its last slot follows at once.
      if (record.facts.supervised && !record.ended) await this.#lastWords(record);
      return undefined;
    }
    this.#core.connections.drop(record.id);
    if (stopped.left.length === 0) await this.#lastWords(record);
    const ended = stopped.ended.map((e) => ({
      pid: e.pid,
      command: e.command,
      by: e.by === 0 ? "exit" : signalName(e.by),
    }));
    return answerFrom(record, ended, stopped.left);
  }

  async #lastWords(record: ProcessRecord): Promise<void> {
    const until = this.#core.clock.now() + LAST_WORDS_MS;
    this.#core.examine(record);
    while (!record.ended && record.facts.supervised && this.#core.clock.now() < until) {
      await sleep(LAST_WORDS_POLL_MS);
      this.#core.examine(record);
    }
  }
}

/** TERM, grace, KILL; whatever is asked for, KILL comes last. */
export function completeSteps(steps: readonly StopStep[] | undefined, graceMs: number): StopStep[] {
  const asked = steps?.length ? [...steps] : [{ signal: SIGTERM, waitMs: graceMs }];
  return asked.at(-1)?.signal === SIGKILL ? asked : [...asked, { signal: SIGKILL, waitMs: 0 }];
}

function answerFrom(record: ProcessRecord, ended: StopAnswer["ended"], left: StopAnswer["left"]): StopAnswer {
  const { exit_code, signal, reason } = record.facts;
  return {
    stopped: left.length === 0,
    ...(exit_code !== undefined && { exit_code }),
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
    ended,
    left,
  };
}

function notRunning(id: ProcessId): Fault {
  return new Fault("process/not-running", `Process "${id}" is not running.`);
}
