import { defer, ignore } from "../base/index.ts";
import type { ShimLook } from "../native/index.ts";
import type { OutputHost } from "./output-host.ts";
import type { ProcessRecord } from "./record.ts";

/** A look at a tree costs the shim a walk through /proc: quick at first, when servers come up, then seldom. */
const LOOK_MIN_MS = 20;
const LOOK_MAX_MS = 250;
/** A shim answers at once; a frozen one must not hold whoever waits. */
const ANSWER_MS = 1_000;

/** What is looked for and who is told; undefined when nobody could look. */
export interface Looker {
  want: { activity?: boolean; ports?: boolean };
  tell(look: ShimLook | undefined): void;
}

/** One poll per process, however many wait for its ports or its activity. */
const polls = new WeakMap<ProcessRecord, LookPoll>();

/** Tells of every look until the returned function is called. */
export function watchLooks(host: OutputHost, record: ProcessRecord, looker: Looker): () => void {
  let poll = polls.get(record);
  if (!poll) {
    poll = new LookPoll(host, record);
    polls.set(record, poll);
  }
  return poll.add(looker);
}

class LookPoll {
  readonly #host: OutputHost;
  readonly #record: ProcessRecord;
  readonly #lookers = new Set<Looker>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #delayMs = LOOK_MIN_MS;

  constructor(host: OutputHost, record: ProcessRecord) {
    this.#host = host;
    this.#record = record;
  }

  add(looker: Looker): () => void {
    this.#lookers.add(looker);
    this.#delayMs = LOOK_MIN_MS;
    clearTimeout(this.#timer);
    this.#round().catch((error) => ignore(error, "a round handles its own failures"));
    return () => {
      this.#lookers.delete(looker);
      if (this.#lookers.size > 0) return;
      clearTimeout(this.#timer);
      if (polls.get(this.#record) === this) polls.delete(this.#record);
    };
  }

  async #round(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const asked = [...this.#lookers];
    const look = await this.#look(asked);
    this.#isLooking = false;
    for (const looker of asked) if (this.#lookers.has(looker)) looker.tell(look);
    if (this.#lookers.size === 0) return;
    // Whoever came while this one was under way was not asked for in it.
    const isLate = [...this.#lookers].some((looker) => !asked.includes(looker));
    this.#timer = setTimeout(
      () => {
        this.#round().catch((error) => ignore(error, "a round handles its own failures"));
      },
      isLate ? 0 : this.#delayMs,
    );
    this.#delayMs = Math.min(LOOK_MAX_MS, this.#delayMs * 1.6);
  }

  async #look(asked: readonly Looker[]): Promise<ShimLook | undefined> {
    if (this.#record.ended) return undefined;
    const late = defer<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), ANSWER_MS);
    try {
      const activity = asked.some(({ want }) => want.activity);
      const ports = asked.some(({ want }) => want.ports);
      const look = this.#host.use(this.#record, (connection) => connection.look({ activity, ports }));
      return await Promise.race([look, late.promise]);
    } catch (error) {
      ignore(error, "no shim answers; the wait goes on and the record will say what is known");
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}
