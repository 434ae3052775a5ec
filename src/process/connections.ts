import { type Clock, ignore } from "../base/index.ts";
import type { ProcessId } from "../contract/index.ts";
import { ControlConnection, type RunDirectories } from "../native/index.ts";
import type { ProcessRecord } from "./record.ts";

/** A shared connection nobody uses is closed after this long: 10,000 idle processes must not hold 10,000 sockets. */
const IDLE_MS = 5_000;

/** A connection that is held open until `release` is called. */
export interface HeldConnection {
  readonly connection: ControlConnection;
  release(): void;
}

interface Shared {
  readonly opening: Promise<ControlConnection>;
  connection: ControlConnection | undefined;
  holders: number;
  cancelIdle: (() => void) | undefined;
}

/** One control connection per shim at most, shared by all who need it, opened on demand. */
export class Connections {
  readonly #dirs: RunDirectories;
  readonly #clock: Clock;
  readonly #onClosed: (id: ProcessId) => void;
  readonly #shared = new Map<ProcessId, Shared>();

  /** `onClosed` hears of every connection that its shim closed. */
  constructor(dirs: RunDirectories, clock: Clock, onClosed: (id: ProcessId) => void) {
    this.#dirs = dirs;
    this.#clock = clock;
    this.#onClosed = onClosed;
  }

  get open(): number {
    return this.#shared.size;
  }

  /** Held until released; followers use this. */
  async hold(record: ProcessRecord): Promise<HeldConnection> {
    const shared = this.#share(record.id);
    shared.holders++;
    shared.cancelIdle?.();
    shared.cancelIdle = undefined;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      shared.holders--;
      if (shared.holders === 0) this.#closeWhenIdle(record.id, shared);
    };
    try {
      return { connection: await shared.opening, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** For one request, however long it takes. */
  async use<T>(record: ProcessRecord, work: (connection: ControlConnection) => Promise<T>): Promise<T> {
    const held = await this.hold(record);
    try {
      return await work(held.connection);
    } finally {
      held.release();
    }
  }

  /** Closes the connection to one shim, so that an ended one need not linger. */
  drop(id: ProcessId, only?: Shared): void {
    const shared = this.#shared.get(id);
    if (!shared || (only && only !== shared)) return;
    this.#shared.delete(id);
    shared.cancelIdle?.();
    shared.opening.then(
      (connection) => connection.close(),
      (error) => ignore(error, "it was never open"),
    );
  }

  close(): void {
    for (const id of Array.from(this.#shared.keys())) this.drop(id);
  }

  #closeWhenIdle(id: ProcessId, shared: Shared): void {
    shared.cancelIdle?.();
    shared.cancelIdle = this.#clock.after(IDLE_MS, () => {
      if (shared.connection?.busy) this.#closeWhenIdle(id, shared);
      else this.drop(id, shared);
    });
  }

  #share(id: ProcessId): Shared {
    const known = this.#shared.get(id);
    if (known) return known;
    const opening = ControlConnection.connect(this.#dirs, id);
    const shared: Shared = { opening, connection: undefined, holders: 0, cancelIdle: undefined };
    this.#shared.set(id, shared);
    const gone = () => {
      if (this.#shared.get(id) !== shared) return;
      this.#shared.delete(id);
      shared.cancelIdle?.();
      this.#onClosed(id);
    };
    opening.then((connection) => {
      shared.connection = connection;
      return connection.closed.then(gone, gone);
    }, gone);
    return shared;
  }
}
