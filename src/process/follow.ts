import { ignore } from "../base/index.ts";
import { ControlConnection, LogFile } from "../native/index.ts";
import type { OutputHost } from "./output-host.ts";
import type { ProcessRecord } from "./record.ts";

/** Without a shim to tell of growth the file is looked at: often while it grows, seldom while it rests. */
const POLL_MIN_MS = 20;
const POLL_MAX_MS = 250;

/** What all followers of one process share, attached to its record for as long as one of them is open. */
const followed = new WeakMap<ProcessRecord, Followed>();

/**
 * Tells when the output of a process may have grown and when its state changed. All followers of a process share one
 * subscription at its shim and one open log; bytes are read from disk, so a slow follower costs nothing.
 */
export class Follower {
  readonly #shared: Followed;
  #seen: number;
  #isOpen = true;

  private constructor(shared: Followed) {
    this.#shared = shared;
    this.#seen = shared.version;
  }

  static open(host: OutputHost, record: ProcessRecord): Follower {
    let shared = followed.get(record);
    if (!shared) {
      shared = new Followed(host, record);
      followed.set(record, shared);
    }
    shared.enter();
    return new Follower(shared);
  }

  /** Bytes ever written, as of the last change that was told. */
  end(): number {
    return this.#shared.end();
  }

  /** The log; undefined while there is no byte of output. Closed with the last follower. */
  get log(): LogFile | undefined {
    return this.#shared.log();
  }

  /** Nobody can write any more. */
  get ended(): boolean {
    return this.#shared.record.ended;
  }

  /** Resolves when something changed since it resolved last (or since `open`), or when the signal fires. */
  async changed(signal: AbortSignal): Promise<void> {
    if (this.#isOpen) await this.#shared.changed(this.#seen, signal);
    this.#seen = this.#shared.version;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#shared.leave()) followed.delete(this.#shared.record);
  }
}

class Followed {
  readonly record: ProcessRecord;
  /** Grows with every change. */
  version = 0;
  readonly #host: OutputHost;
  readonly #waiters = new Set<() => void>();
  readonly #stopListening: () => void;
  #followers = 0;
  #hasLeft = false;
  #log: LogFile | undefined;
  #end = 0;
  #endVersion = -1;
  #connection: ControlConnection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pollMs = POLL_MIN_MS;

  constructor(host: OutputHost, record: ProcessRecord) {
    this.#host = host;
    this.record = record;
    this.#stopListening = record.onChange(() => this.#change());
    this.#poll();
    if (!record.ended)
      this.#subscribe().catch((error) => ignore(error, "no shim answers: the file itself tells of growth"));
  }

  /** The end is read anew, so that whoever comes later does not begin in the past. */
  enter(): void {
    this.#followers++;
    this.#endVersion = -1;
  }

  /** True when the last one has left. */
  leave(): boolean {
    this.#followers--;
    if (this.#followers > 0) return false;
    this.#hasLeft = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    this.#connection?.close();
    this.#log?.close();
    this.#log = undefined;
    return true;
  }

  log(): LogFile | undefined {
    if (!this.#hasLeft) this.#log ??= LogFile.open(this.#host.dirs, this.record.id);
    return this.#log;
  }

  end(): number {
    if (this.#endVersion !== this.version) {
      this.#end = Math.max(this.#end, this.log()?.end() ?? 0);
      this.#endVersion = this.version;
    }
    return this.#end;
  }

  changed(since: number, signal: AbortSignal): Promise<void> {
    if (this.version !== since || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        this.#waiters.delete(finish);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      this.#waiters.add(finish);
      signal.addEventListener("abort", finish, { once: true });
    });
  }

  #change(): void {
    this.version++;
    for (const waiter of this.#waiters) waiter();
  }

  async #subscribe(): Promise<void> {
    const connection = await ControlConnection.connect(this.#host.dirs, this.record.id);
    if (this.#hasLeft) return connection.close();
    this.#connection = connection;
    try {
      await connection.subscribe(() => this.#change());
      clearTimeout(this.#timer);
      // What came before the subscription was announced to nobody.
      this.#change();
      await connection.closed;
    } finally {
      connection.close();
      this.#connection = undefined;
      this.#poll();
    }
  }

  #poll(): void {
    if (this.#hasLeft || this.record.ended) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      try {
        this.#look();
      } catch (error) {
        ignore(error, "a state file that cannot be read is the supervisor's to judge; readers meet it themselves");
      }
      this.#poll();
    }, this.#pollMs);
    this.#timer.unref();
  }

  #look(): void {
    // A shim that is gone tells nothing; the supervisor finds out now instead of at its next sweep.
    if (this.record.facts.supervised) this.#host.refresh(this.record);
    const hasGrown = (this.log()?.end() ?? 0) > this.#end;
    this.#pollMs = hasGrown ? POLL_MIN_MS : Math.min(POLL_MAX_MS, this.#pollMs * 2);
    if (hasGrown) this.#change();
  }
}
