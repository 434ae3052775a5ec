// Rows and events follow the truth a few milliseconds behind: the run directory already holds it, so a start does not wait for
// SQLite. What a killed daemon did not write, adoption finds by comparing facts with what was announced.
import type { Clock, Log } from "../base/index.ts";
import type { DroverEvent, EventType, ProcessFacts } from "../contract/index.ts";
import type { NewEvent, Store } from "../store/index.ts";
import type { EventBus } from "./event-bus.ts";
import type { ProcessRecord } from "./record.ts";

/** Long enough to share one transaction between many starts, short enough that a list or an event is never felt to be late. */
const BATCH_MS = 15;
/** Written in one turn of the event loop, some 50 µs each; the rest follows in the next. */
const BATCH_RECORDS = 16;
/** After a write that failed (disk full): the records stay in memory and are tried again. */
const RETRY_MS = 1_000;

/** Bits of what was announced, in the order in which they are told. */
export const announcements = { started: 1, exited: 2, lost: 8, ended: 4 } as const;

export interface JournalOptions {
  store: Store;
  events: EventBus;
  clock: Clock;
  log: Log;
  /** Completes facts from the state file before they are written. */
  complete(record: ProcessRecord): void;
  /** Everything known about an ended record is on disk. */
  settled(record: ProcessRecord): void;
}

export class Journal {
  readonly #o: JournalOptions;
  readonly #dirty = new Set<ProcessRecord>();
  #queued: NewEvent[] = [];
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(options: JournalOptions) {
    this.#o = options;
  }

  /** The record has changed; it is written with the next batch. */
  note(record: ProcessRecord): void {
    this.#dirty.add(record);
    this.#schedule(BATCH_MS);
  }

  /** An event that is not a change of a record's facts. */
  announce(event: NewEvent): void {
    this.#queued.push(event);
    this.#schedule(BATCH_MS);
  }

  /** The record is gone: nothing more is written about it. */
  drop(record: ProcessRecord): void {
    this.#dirty.delete(record);
  }

  /** Writes everything now. Readers of the store call it first. */
  flush(): void {
    this.#writeSome(Number.POSITIVE_INFINITY);
  }

  close(): void {
    this.flush();
    this.#closed = true;
    this.#cancel?.();
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    this.#cancel ??= this.#o.clock.after(ms, () => {
      this.#cancel = undefined;
      this.#writeSome(BATCH_RECORDS);
      if (this.#dirty.size > 0) this.#schedule(0);
    });
  }

  #writeSome(most: number): void {
    if (this.#dirty.size === 0 && this.#queued.length === 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
    const records = firstOf(this.#dirty, most);
    for (const record of records) this.#o.complete(record);
    // Queued events come after those of the records they may be about.
    const queued = records.length === this.#dirty.size ? this.#queued : [];
    try {
      const written = this.#o.store.transact(() => this.#write(records, queued));
      if (queued === this.#queued) this.#queued = [];
      for (const record of records) {
        this.#dirty.delete(record);
        record.announced |= dueBits(record.facts);
      }
      this.#o.events.publish(written);
    } catch (error) {
      this.#o.log.error("the journal could not be written and is tried again", { error, records: records.length });
      this.#schedule(RETRY_MS);
      return;
    }
    for (const record of records) if (record.ended) this.#o.settled(record);
  }

  #write(records: readonly ProcessRecord[], queued: readonly NewEvent[]): DroverEvent[] {
    const { processes, events } = this.#o.store;
    const now = this.#o.clock.now();
    const due = records.flatMap((record) => dueEvents(record, now));
    for (const record of records) processes.save(record.meta, record.facts, record.announced | dueBits(record.facts));
    return events.append([...due, ...queued]);
  }
}

function firstOf<T>(set: ReadonlySet<T>, most: number): T[] {
  const found: T[] = [];
  for (const item of set) {
    if (found.length >= most) break;
    found.push(item);
  }
  return found;
}

/** Everything that facts give reason to announce. */
export function dueBits(facts: ProcessFacts): number {
  let bits = 0;
  if (facts.state !== "starting") bits |= announcements.started;
  if (facts.state === "exited") bits |= announcements.exited;
  if (facts.state === "lost") bits |= announcements.lost;
  if (facts.ended_at_ms !== undefined) bits |= announcements.ended;
  return bits;
}

/** The events that are still missing from the log, in order. */
export function dueEvents(record: ProcessRecord, nowMs: number): NewEvent[] {
  const missing = dueBits(record.facts) & ~record.announced;
  const found: NewEvent[] = [];
  for (const [name, bit] of Object.entries(announcements)) {
    if (missing & bit) found.push(describeEvent(record, name as keyof typeof announcements, nowMs));
  }
  return found;
}

function describeEvent(record: ProcessRecord, name: keyof typeof announcements, nowMs: number): NewEvent {
  const { facts } = record;
  switch (name) {
    case "started":
      return createEvent(record, "process.started", facts.started_at_ms, {
        command: record.meta.command,
        workdir: record.meta.workdir,
        label: record.meta.label,
        pid: facts.pid,
        seq: record.meta.seq,
      });
    case "exited":
      return createEvent(record, "process.exited", facts.exited_at_ms ?? nowMs, {
        exit_code: facts.exit_code,
        signal: facts.signal,
        reason: facts.reason,
        log_end: facts.log_end,
        leftover_count: facts.leftover_count,
      });
    case "lost":
      return createEvent(record, "process.lost", nowMs, { evidence: facts.evidence, running: record.running });
    case "ended":
      return createEvent(record, "process.ended", facts.ended_at_ms ?? nowMs, { log_end: facts.log_end });
  }
}

/** An event about a record; what is undefined is left out. */
export function createEvent(
  record: ProcessRecord,
  type: EventType,
  atMs: number,
  data: Record<string, unknown>,
): NewEvent {
  return {
    type,
    at: new Date(atMs).toISOString(),
    machine_id: record.meta.machine_id,
    ...(record.meta.chat_id === undefined ? {} : { chat_id: record.meta.chat_id }),
    ...(record.meta.ancestor_chat_ids === undefined ? {} : { ancestor_chat_ids: record.meta.ancestor_chat_ids }),
    process_id: record.id,
    data: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)),
  };
}
