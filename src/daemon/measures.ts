import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Measure } from "../operations/index.ts";

const NS_PER_S = 1e9;

/** What only the daemon can measure about itself. */
export class Measures {
  readonly #delay: IntervalHistogram;
  readonly #startedAtMs: number;

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
    this.#delay = monitorEventLoopDelay({ resolution: 20 });
    this.#delay.enable();
  }

  read(): Measure[] {
    const gauge = (name: string, help: string, value: number): Measure => ({ name, kind: "gauge", help, value });
    return [
      gauge(
        "drover_event_loop_delay_p99_seconds",
        "Delay of the event loop, 99th percentile.",
        this.#delay.percentile(99) / NS_PER_S,
      ),
      gauge("drover_event_loop_delay_max_seconds", "Delay of the event loop, longest.", this.#delay.max / NS_PER_S),
      gauge("drover_resident_bytes", "Resident memory of the daemon.", process.memoryUsage.rss()),
      gauge("drover_start_time_seconds", "When the daemon started, in seconds since 1970.", this.#startedAtMs / 1000),
    ];
  }

  close(): void {
    this.#delay.disable();
  }
}
