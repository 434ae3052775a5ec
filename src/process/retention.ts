import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { StoredProcess } from "../store/index.ts";
import { type Core, estimateDisk } from "./core.ts";
import { createEvent } from "./journal.ts";
import { ProcessRecord } from "./record.ts";
import { Repeat } from "./repeat.ts";

const FIRST_MS = 100;
const EVERY_MS = 60_000;
/** Rows read, or directories measured, in one turn of the event loop. */
const BATCH = 20;
/** A day of 10,000 starts is more than one pass should remove at once. */
const PASS_MOST = 2_000;
const DAY_MS = 86_400_000;
const EVENTS_KEEP_MS = 30 * DAY_MS;
const EVENTS_KEEP_MOST = 100_000;
/** Estimates drift; the disk itself is asked this often. */
const RECOUNT_EVERY = 60;

/** Removes what is old, in the background, one by one. Never what runs or has left something behind. */
export class Retention {
  readonly #core: Core;
  readonly #repeat: Repeat;
  #passes = 0;

  constructor(core: Core) {
    this.#core = core;
    const { clock, log } = core;
    const work = (signal: AbortSignal) => this.#pass(signal);
    this.#repeat = new Repeat({ clock, log, name: "retention", firstMs: FIRST_MS, everyMs: EVERY_MS, work });
  }

  close(): Promise<void> {
    return this.#repeat.close();
  }

  async #pass(signal: AbortSignal): Promise<void> {
    if (this.#passes++ % RECOUNT_EVERY === 0) await this.#recount(signal);
    const { config, clock, store } = this.#core;
    const oldMs = clock.now() - config.keep_days * DAY_MS;
    await this.#removeAll(() => store.processes.endedBefore(oldMs, BATCH), signal);
    for (const chat of store.processes.chats()) {
      await this.#removeAll(() => store.processes.surplus(chat, { keep: config.keep_per_chat, limit: BATCH }), signal);
      await yieldToOthers();
    }
    const isTooMuch = () => this.#core.diskBytes > config.log_total_bytes;
    await this.#removeAll(() => (isTooMuch() ? store.processes.endedOldestFirst(1) : []), signal);
    const oldEvents = { beforeMs: clock.now() - EVENTS_KEEP_MS, keepNewest: EVENTS_KEEP_MOST };
    while (!signal.aborted && store.events.prune(oldEvents) > 0) await yieldToOthers();
  }

  async #removeAll(next: () => StoredProcess[], signal: AbortSignal): Promise<void> {
    for (let removed = 0; removed < PASS_MOST && !signal.aborted; ) {
      const batch = next();
      if (batch.length === 0) return;
      for (const row of batch) {
        if (signal.aborted) return;
        await removeRecord(this.#core, new ProcessRecord(row.meta, row.facts, row.announced));
      }
      removed += batch.length;
    }
  }

  async #recount(signal: AbortSignal): Promise<void> {
    let total = 0;
    for (const [i, id] of this.#core.dirs.list().entries()) {
      if (i % BATCH === BATCH - 1) await yieldToOthers();
      if (signal.aborted) return;
      total += this.#core.dirs.diskBytes(id);
    }
    this.#core.diskBytes = total;
  }
}

/** Forgets an ended record: its directory, its row, and says so. Resolves when its files are gone too. */
export async function removeRecord(core: Core, record: ProcessRecord): Promise<void> {
  core.release(record);
  const removeFiles = core.dirs.discard(record.id);
  core.store.processes.remove(record.id);
  core.diskBytes = Math.max(0, core.diskBytes - estimateDisk(record));
  core.counters.removed++;
  core.journal.announce(createEvent(record, "process.removed", core.clock.now(), { command: record.meta.command }));
  await removeFiles();
}
