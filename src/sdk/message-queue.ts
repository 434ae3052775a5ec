/** More than this unread and the sender is held back. */
const FULL_BYTES = 1 << 20;

/** Items that arrive by themselves, for one reader who takes them one by one. */
export class MessageQueue<T> implements AsyncIterable<T> {
  readonly #items: { item: T; size: number }[] = [];
  readonly #onFull: (isFull: boolean) => void;
  #size = 0;
  #isFull = false;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(onFull: (isFull: boolean) => void) {
    this.#onFull = onFull;
  }

  push(item: T, size: number): void {
    if (this.#ended) return;
    this.#items.push({ item, size });
    this.#measure(size);
    this.#wake?.();
  }

  /** What is queued is still read; then the end, or the error. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#items.shift();
      if (next) {
        this.#measure(-next.size);
        yield next.item;
      } else if (this.#ended) {
        if (this.#error) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #measure(change: number): void {
    this.#size += change;
    const isFull = this.#size > FULL_BYTES;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (!this.#ended) this.#onFull(isFull);
  }
}
