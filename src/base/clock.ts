/** Time as something that is handed in. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls once after `ms`; returns a function that takes it back. Never keeps the program alive by itself. */
  after(ms: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(ms, 0x7fffffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
