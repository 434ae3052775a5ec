import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { Core } from "./core.ts";
import { settleSurvivors } from "./orphans.ts";
import type { ProcessRecord } from "./record.ts";
import { Repeat } from "./repeat.ts";

/** A hint is seldom lost: every record is compared with the truth once in a while. */
const SWEEP_MS = 5_000;
/** Records somebody waits for are looked at more often. */
const AWAITED_MS = 1_000;
/** About 90 µs each: a sweep takes one per cent of a core at most, however many there are; the rest has its turn next time. */
const SWEEP_MOST = 500;
const AWAITED_MOST = 200;
/** Others wait for some three milliseconds at most. */
const SLICE = 30;
/** A scan of /proc is dear; what lives without a supervisor is counted again this often, a few at a time. */
const SEARCH_MS = 15_000;
const SEARCH_MOST = 10;

/** Finds what a lost hint did not tell. */
export class Sweep {
  readonly #core: Core;
  readonly #repeats: Repeat[];

  constructor(core: Core) {
    this.#core = core;
    const all = new Turns(SWEEP_MOST, () => this.#live());
    const awaited = new Turns(AWAITED_MOST, () => this.#live().filter((r) => r.awaited));
    const adrift = new Turns(SEARCH_MOST, () => this.#live().filter((r) => !r.facts.supervised));
    this.#repeats = [
      this.#every("sweep", SWEEP_MS, (signal) => this.#examine(all.next(), signal)),
      this.#every("awaited", AWAITED_MS, (signal) => this.#examine(awaited.next(), signal)),
      this.#every("search", AWAITED_MS, (signal) => this.#search(this.#takeUnsearched(), signal)),
      this.#every("search again", SEARCH_MS, (signal) => this.#search(adrift.next(), signal)),
    ];
  }

  async close(): Promise<void> {
    await Promise.all(this.#repeats.map((repeat) => repeat.close()));
  }

  #every(name: string, everyMs: number, work: (signal: AbortSignal) => Promise<void>): Repeat {
    const { clock, log } = this.#core;
    return new Repeat({ clock, log, name, firstMs: everyMs, everyMs, work });
  }

  #live(): ProcessRecord[] {
    return [...this.#core.register.live.values()];
  }

  #takeUnsearched(): ProcessRecord[] {
    const taken = [...this.#core.unsearched].slice(0, SEARCH_MOST);
    for (const record of taken) this.#core.unsearched.delete(record);
    return taken;
  }

  async #examine(records: readonly ProcessRecord[], signal: AbortSignal): Promise<void> {
    this.#core.counters.sweeps++;
    for (const [i, record] of records.entries()) {
      if (i % SLICE === SLICE - 1) await yieldToOthers();
      if (signal.aborted) return;
      if (!record.ended) this.#core.examine(record);
    }
  }

  async #search(records: readonly ProcessRecord[], signal: AbortSignal): Promise<void> {
    for (const record of records) {
      if (signal.aborted) return;
      if (!record.ended) await settleSurvivors(this.#core, record);
    }
  }
}

/** Gives out a list part by part, and asks for a new one when it is through. */
class Turns {
  readonly #most: number;
  readonly #list: () => ProcessRecord[];
  #rest: ProcessRecord[] = [];

  constructor(most: number, list: () => ProcessRecord[]) {
    this.#most = most;
    this.#list = list;
  }

  next(): ProcessRecord[] {
    if (this.#rest.length === 0) this.#rest = this.#list();
    return this.#rest.splice(0, this.#most);
  }
}
