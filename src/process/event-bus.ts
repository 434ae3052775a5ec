import type { DroverEvent } from "../contract/index.ts";
import type { EventFilter, Store } from "../store/index.ts";
import { isWithin } from "./visibility.ts";

/** The durable event log, and those who listen to its end. */
export class EventBus {
  readonly #events: Store["events"];
  readonly #subscribers = new Set<{ filter: EventFilter; on: (event: DroverEvent) => void }>();

  constructor(events: Store["events"]) {
    this.#events = events;
  }

  /** History after a number, oldest first. */
  after(seq: number, filter: EventFilter, limit: number): DroverEvent[] {
    return this.#events.after(seq, filter, limit);
  }

  /** Oldest and newest number kept. */
  bounds(): { oldest: number; newest: number } {
    return this.#events.bounds();
  }

  /** Calls for every event that is committed from now on; returns the function that takes it back. */
  subscribe(filter: EventFilter, on: (event: DroverEvent) => void): () => void {
    const entry = { filter, on };
    this.#subscribers.add(entry);
    return () => {
      this.#subscribers.delete(entry);
    };
  }

  /** Only the journal calls this, after the commit. */
  publish(events: readonly DroverEvent[]): void {
    for (const event of events) {
      for (const { filter, on } of Array.from(this.#subscribers)) if (matches(filter, event)) on(event);
    }
  }
}

function matches(filter: EventFilter, event: DroverEvent): boolean {
  if (!isWithin(filter.within, event)) return false;
  if (filter.chat !== undefined && event.chat_id !== filter.chat) return false;
  if (filter.process !== undefined && event.process_id !== filter.process) return false;
  return filter.types === undefined || filter.types.includes(event.type);
}
