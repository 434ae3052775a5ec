import type { Clock } from "../../src/base/index.ts";

/** Time that passes only when it is told to. */
export class FakeClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<{ atMs: number; call: () => void }>();

  constructor(nowMs = 1_800_000_000_000) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Everything that falls due on the way is called in its order. */
  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].filter((t) => t.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (!next) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.call();
    }
    this.#nowMs = untilMs;
  }

  get waiting(): number {
    return this.#timers.size;
  }
}
