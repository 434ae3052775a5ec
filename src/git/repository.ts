import { type Clock, ignore, type Log } from "../base/index.ts";
import type { GitRepository } from "../contract/index.ts";
import { placesOf, type RepositoryPlaces } from "./find-repository.ts";
import type { Git } from "./run-git.ts";
import { SnapshotReader } from "./snapshot.ts";
import { TreeWatch } from "./tree-watch.ts";

/** Scans begin at least this far apart, as in the original. */
const LEAST_GAP_MS = 1_000;
/** Events come in bursts; the scan waits for the first of them to settle. */
const SETTLE_MS = 100;
/** Scanning takes at most half of the time: in a slow repository under constant change the gap grows, up to the poll. */
const GAP_PER_COST = 2;
/** Without file-system events, as in the original; counted from the last scan. */
const POLL_MS = 5_000;
/** With them: for what events cannot tell (settings elsewhere, a queue that ran over). */
const SURE_MS = 60_000;

export interface RepositoryRooms {
  readonly git: Git;
  readonly clock: Clock;
  readonly log: Log;
  /** A number for each scan of this daemon. */
  nextScan(): number;
}

/** What one scan found; a new object only when something is different. */
export interface Snapshot {
  readonly entry: GitRepository;
  /** The entry as JSON, made once for all who are told. */
  readonly json: Buffer;
  readonly scan: number;
}

/**
 * One repository, scanned for everybody who watches it. Scans while somebody does, when the file system tells of a change, when
 * asked, and by the clock; two scans never overlap.
 */
export class Repository {
  readonly root: string;
  readonly #rooms: RepositoryRooms;
  readonly #reader: SnapshotReader;
  readonly #listeners = new Set<() => void>();
  #places: RepositoryPlaces;
  #snapshot: Snapshot | undefined;
  #watch: TreeWatch | undefined;
  #isLive = false;
  /** Why there are no events; undefined while there are, or nobody watches. */
  #polledBecause: string | undefined;
  #startedAtMs = 0;
  #costMs = 0;
  #scannedAtMs = 0;
  #scanning: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #users = 0;

  constructor(places: RepositoryPlaces, rooms: RepositoryRooms) {
    this.root = places.root;
    this.#places = places;
    this.#rooms = rooms;
    this.#reader = new SnapshotReader(rooms.git);
  }

  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /** Events tell of every change: what was scanned last is true now. */
  get isLive(): boolean {
    return this.#isLive;
  }

  get isWatched(): boolean {
    return this.#users > 0;
  }

  get polledBecause(): string | undefined {
    return this.#polledBecause;
  }

  /** When the snapshot was last known to be true. */
  get verifiedAtMs(): number {
    return this.#isLive && this.#next === undefined ? this.#rooms.clock.now() : this.#scannedAtMs;
  }

  /** Calls after every scan; the first user starts the watch, the last one ends it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#users++ === 0) this.#open();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#listeners.delete(listener);
      if (--this.#users === 0) this.#close();
    };
  }

  /** Resolves after a scan that began after this call, or as soon as what is known is sure to be true. */
  fresh(): Promise<void> {
    return this.#isLive && this.#snapshot && this.#next === undefined ? Promise.resolve() : this.scan();
  }

  /** Resolves after a scan that began after this call. Many calls share one scan. */
  scan(): Promise<void> {
    this.#next ??= this.#scanLater();
    return this.#next;
  }

  #open(): void {
    const { git, log } = this.#rooms;
    this.#polledBecause = undefined;
    const watch = new TreeWatch({
      git,
      places: this.#places,
      onChange: () => void this.scan(),
      onFailure: (why) => {
        if (this.#watch !== watch) return;
        this.#isLive = false;
        this.#polledBecause = why;
        log.warn("no file-system events for a repository, polling it", { root: this.root, why });
        this.#scheduleByClock();
      },
    });
    this.#watch = watch;
    // The first answer does not wait for thousands of watches; a second scan covers the time until they are set.
    this.#settleThenScan(watch).catch((error: unknown) => log.error("a repository cannot be watched", { error }));
  }

  async #settleThenScan(watch: TreeWatch): Promise<void> {
    await this.scan();
    await watch.settle();
    if (this.#watch !== watch || this.#polledBecause !== undefined) return;
    await this.scan();
    if (this.#watch === watch && this.#polledBecause === undefined) this.#isLive = true;
    this.#scheduleByClock();
  }

  #close(): void {
    this.#watch?.close();
    this.#watch = undefined;
    this.#isLive = false;
    this.#polledBecause = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #scanLater(): Promise<void> {
    const { clock } = this.#rooms;
    const gap = Math.min(POLL_MS, Math.max(LEAST_GAP_MS, this.#costMs * GAP_PER_COST));
    const isFirst = this.#startedAtMs === 0;
    const wait = isFirst ? 0 : Math.max(SETTLE_MS, this.#startedAtMs + gap - clock.now());
    await new Promise<void>((resolve) => void clock.after(wait, resolve));
    await this.#scanning;
    // From here on whoever asks gets the scan after this one.
    this.#next = undefined;
    this.#scanning = this.#scanNow().finally(() => {
      this.#scanning = undefined;
    });
    await this.#scanning;
  }

  async #scanNow(): Promise<void> {
    const { clock, log } = this.#rooms;
    this.#startedAtMs = clock.now();
    try {
      const watch = this.#isLive ? this.#watch : undefined;
      const hasGrown = await watch?.settle();
      const begun = performance.now();
      const wasSame = await this.#look();
      this.#costMs = performance.now() - begun;
      if (wasSame && watch === this.#watch) await watch?.learn();
      if (hasGrown) void this.scan();
    } catch (error) {
      log.error("a repository could not be scanned", { root: this.root, error });
    }
    this.#scannedAtMs = this.#startedAtMs;
    this.#scheduleByClock();
    for (const listener of Array.from(this.#listeners)) listener();
  }

  /** True when nothing is different. */
  async #look(): Promise<boolean> {
    const scan = this.#rooms.nextScan();
    const entry = await this.#read();
    if (entry === this.#snapshot?.entry) return true;
    if (entry.removed && this.#snapshot?.entry.removed) return true;
    this.#snapshot = { entry, json: Buffer.from(JSON.stringify(entry)), scan };
    return false;
  }

  async #read(): Promise<GitRepository> {
    const gone: GitRepository = { repo_root: this.root, branch: "", removed: true };
    const places = await placesOf(this.root);
    if (!places) return gone;
    this.#places = places;
    const entry = await this.#reader.read(places);
    // It may have gone while git looked; that is not git's failure.
    return entry.error !== undefined && !(await placesOf(this.root)) ? gone : entry;
  }

  #scheduleByClock(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#users === 0 || this.#snapshot?.entry.removed) return;
    const { clock } = this.#rooms;
    const period = this.#isLive ? SURE_MS : POLL_MS;
    const wait = Math.max(0, this.#startedAtMs + period - clock.now());
    this.#cancel = clock.after(wait, () => {
      this.scan().catch((error: unknown) => ignore(error, "a scan reports its own failures"));
    });
  }
}
