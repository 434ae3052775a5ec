import { type Caller, type ProcessId, toProcessId } from "../contract/index.ts";
import type { Store } from "../store/index.ts";
import { ProcessRecord } from "./record.ts";
import { checkRight, mayRead, notFound, type Right } from "./visibility.ts";

/** Ended records kept in memory, because what just ended is asked for most. */
const ENDED_CACHE = 256;

/** Every record: live ones in memory, ended ones in the store behind a small cache. */
export class Register {
  readonly #store: Store;
  readonly #live = new Map<ProcessId, ProcessRecord>();
  readonly #ended = new Map<ProcessId, ProcessRecord>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Those that are not ended, or whose end is not written yet. */
  get live(): ReadonlyMap<ProcessId, ProcessRecord> {
    return this.#live;
  }

  add(record: ProcessRecord): void {
    this.#live.set(record.id, record);
  }

  /** An ended record leaves the live ones once it is written. */
  settle(record: ProcessRecord): void {
    if (this.#live.delete(record.id)) this.#keep(record);
  }

  forget(id: ProcessId): void {
    this.#live.delete(id);
    this.#ended.delete(id);
  }

  /** Whoever asks; chats are looked at by `find`. */
  lookUp(id: ProcessId): ProcessRecord | undefined {
    const known = this.#live.get(id) ?? this.#ended.get(id);
    if (known) return known;
    const row = this.#store.processes.find(id);
    if (!row) return undefined;
    const record = new ProcessRecord(row.meta, row.facts, row.announced);
    this.#keep(record);
    return record;
  }

  /** A record the caller may see. */
  find(id: string, caller: Caller): ProcessRecord | undefined {
    const processId = toProcessId(id);
    const record = processId && this.lookUp(processId);
    return record && mayRead(caller, record.meta) ? record : undefined;
  }

  get(id: string, caller: Caller, right: Right): ProcessRecord {
    const record = this.find(id, caller);
    if (!record) throw notFound(id);
    checkRight(caller, record.meta, right);
    return record;
  }

  #keep(record: ProcessRecord): void {
    this.#ended.set(record.id, record);
    const oldest = this.#ended.keys().next();
    if (this.#ended.size > ENDED_CACHE && !oldest.done) this.#ended.delete(oldest.value);
  }

  counts(): { running: number; exited: number; lost: number } {
    return this.#store.processes.count();
  }
}
