import type { Clock, Log } from "../base/index.ts";

export interface RepeatOptions {
  clock: Clock;
  log: Log;
  name: string;
  firstMs: number;
  everyMs: number;
  /** Looks at the signal between its steps. */
  work(signal: AbortSignal): Promise<void>;
}

/** Background work that is done again some time after it was done: slow work never piles up. */
export class Repeat {
  readonly #o: RepeatOptions;
  readonly #closing = new AbortController();
  #cancel: () => void = () => undefined;
  #underWay: Promise<void> = Promise.resolve();

  constructor(options: RepeatOptions) {
    this.#o = options;
    this.#schedule(options.firstMs);
  }

  /** Resolves when work that is under way has come to its end. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancel();
    await this.#underWay;
  }

  #schedule(ms: number): void {
    this.#cancel = this.#o.clock.after(ms, () => {
      this.#underWay = this.#run();
    });
  }

  async #run(): Promise<void> {
    try {
      await this.#o.work(this.#closing.signal);
    } catch (error) {
      this.#o.log.error("background work failed", { name: this.#o.name, error });
    }
    if (!this.#closing.signal.aborted) this.#schedule(this.#o.everyMs);
  }
}
