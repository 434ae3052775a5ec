/** Counters that doors keep, and the text form of everything counted. */
export class Metrics {
  readonly #requests = new Map<string, number>();
  #sseClients = 0;
  #outputBytes = 0;

  /** One answered request. */
  request(status: number): void {
    const kind = `${Math.floor(status / 100)}xx`;
    this.#requests.set(kind, (this.#requests.get(kind) ?? 0) + 1);
  }

  /** A stream was opened (1) or closed (-1). */
  sse(change: 1 | -1): void {
    this.#sseClients += change;
  }

  /** Bytes of output handed to somebody. */
  outputRead(bytes: number): void {
    this.#outputBytes += bytes;
  }

  /** Prometheus' text form, with what the rest of the daemon measured. */
  format(measured: readonly Measure[]): string {
    const requests: Measure[] = [...this.#requests].map(([status, value]) => ({
      name: "drover_requests_total",
      kind: "counter",
      help: "Requests answered, by class of status.",
      labels: `{status="${status}"}`,
      value,
    }));
    const own: Measure[] = [
      ...requests,
      { name: "drover_sse_clients", kind: "gauge", help: "Open event streams.", value: this.#sseClients },
      {
        name: "drover_output_read_bytes_total",
        kind: "counter",
        help: "Bytes of output handed to readers.",
        value: this.#outputBytes,
      },
    ];
    return formatMeasures([...own, ...measured]);
  }
}

export interface Measure {
  name: string;
  kind: "counter" | "gauge";
  help: string;
  labels?: string;
  value: number;
}

function formatMeasures(measures: readonly Measure[]): string {
  const lines: string[] = [];
  let last = "";
  for (const m of measures) {
    if (m.name !== last) lines.push(`# HELP ${m.name} ${m.help}`, `# TYPE ${m.name} ${m.kind}`);
    last = m.name;
    lines.push(`${m.name}${m.labels ?? ""} ${m.value}`);
  }
  return `${lines.join("\n")}\n`;
}
