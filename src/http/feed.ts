export type Step<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "silence" }
  | { readonly kind: "done" }
  | { readonly kind: "error"; readonly error: unknown };

/**
 * Steps through an async iterable and says `silence` when nothing came for a while; the pending value is not lost by that. One
 * value is asked for at a time, and only when somebody wants it.
 */
export class Feed<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #silenceMs: number;
  #asked = false;
  #ready: Step<T> | undefined;
  #failure: Step<T> | undefined;
  #waiter: ((step: Step<T>) => void) | undefined;

  constructor(source: AsyncIterable<T>, silenceMs: number) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#silenceMs = silenceMs;
  }

  /** Asks for the first value and throws if that fails within a turn of the event loop. */
  async begin(): Promise<void> {
    this.#ask();
    await new Promise(setImmediate);
    if (this.#ready?.kind === "error") throw this.#ready.error;
  }

  next(): Promise<Step<T>> {
    const known = this.#failure ?? this.#take();
    if (known) return Promise.resolve(known);
    this.#ask();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle({ kind: "silence" }), this.#silenceMs);
      this.#waiter = (step) => {
        clearTimeout(timer);
        resolve(step);
      };
    });
  }

  /** The next step, and every later one, is this error. */
  fail(error: unknown): void {
    this.#failure = { kind: "error", error };
    this.#settle(this.#failure);
  }

  async close(): Promise<void> {
    this.#failure ??= { kind: "done" };
    this.#settle(this.#failure);
    await this.#iterator.return?.();
  }

  #ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#iterator.next().then(
      (result) => this.#arrive(result.done ? { kind: "done" } : { kind: "value", value: result.value }),
      (error: unknown) => this.#arrive({ kind: "error", error }),
    );
  }

  #arrive(step: Step<T>): void {
    this.#ready = step;
    if (this.#waiter) this.#settle(this.#take() ?? step);
  }

  #take(): Step<T> | undefined {
    const step = this.#ready;
    if (step?.kind === "value") {
      this.#ready = undefined;
      this.#asked = false;
    }
    return step;
  }

  #settle(step: Step<T>): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.(step);
  }
}
