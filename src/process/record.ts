import type { ProcessFacts, ProcessId, ProcessMeta } from "../contract/index.ts";
import { type Action, advance, type LifeEvent, type Phase, phaseOf } from "./lifecycle.ts";

/** One process as the daemon knows it: what was asked for and what was observed. */
export class ProcessRecord {
  readonly id: ProcessId;
  readonly meta: ProcessMeta;
  /** Bits of what the event log holds already; only the journal writes it. */
  announced: number;
  #facts: ProcessFacts;
  readonly #listeners = new Set<() => void>();

  constructor(meta: ProcessMeta, facts: ProcessFacts, announced = 0) {
    this.id = meta.id;
    this.meta = meta;
    this.#facts = facts;
    this.announced = announced;
  }

  /** Replaced at every change, never mutated. */
  get facts(): ProcessFacts {
    return this.#facts;
  }

  get phase(): Phase {
    return phaseOf(this.#facts);
  }

  /** The command itself is alive, as far as was observed. */
  get running(): boolean {
    return this.#facts.exited_at_ms === undefined && this.#facts.ended_at_ms === undefined;
  }

  /** Nothing is left: no descendant, and nobody can write any more. */
  get ended(): boolean {
    return this.#facts.ended_at_ms !== undefined;
  }

  /** Somebody waits for news of it. */
  get awaited(): boolean {
    return this.#listeners.size > 0;
  }

  /** Takes in an event and tells listeners when facts changed; the caller carries out the actions. */
  apply(event: LifeEvent): readonly Action[] {
    const next = advance(this.#facts, event);
    if (next.facts !== this.#facts) {
      this.#facts = next.facts;
      for (const listener of Array.from(this.#listeners)) listener();
    }
    return next.actions;
  }

  /** Fires after facts were replaced; returns the function that takes it back. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Resolves when the command is no longer running, when the signal fires, or after a time; look at `running` afterwards. */
  waitExit(signal: AbortSignal, timeoutMs?: number): Promise<void> {
    return this.#until(() => !this.running, signal, timeoutMs);
  }

  /** Resolves when nothing is left, or when the signal fires. */
  waitEnd(signal: AbortSignal): Promise<void> {
    return this.#until(() => this.ended, signal);
  }

  #until(holds: () => boolean, signal: AbortSignal, timeoutMs?: number): Promise<void> {
    if (holds() || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        stop();
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(finish, timeoutMs);
      const stop = this.onChange(() => holds() && finish());
      signal.addEventListener("abort", finish, { once: true });
    });
  }
}

/** The facts of a process that was asked for and not yet seen. */
export function notYetStarted(meta: ProcessMeta): ProcessFacts {
  return {
    state: "starting",
    started_at_ms: meta.created_at_ms,
    leftover_count: 0,
    log_end: 0,
    warnings: [],
    supervised: true,
  };
}
