const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "\u00b5s": 1e-3,
  "\u03bcs": 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** Milliseconds from a duration as Go writes it: `300ms`, `1.5h`, `2h45m`, `0`. Undefined when it is none, or negative. */
export function parseDuration(text: string): number | undefined {
  const unsigned = text.replace(/^\+/, "");
  if (unsigned === "0") return 0;
  let sum = 0;
  part.lastIndex = 0;
  while (part.lastIndex < unsigned.length) {
    const found = part.exec(unsigned);
    if (!found) return undefined;
    sum += Number(found[1]) * (unitsMs[found[2] ?? ""] ?? 0);
  }
  return unsigned === "" ? undefined : Math.ceil(sum);
}

/** `1m30s`, `10s`, `250ms`: as Go prints it. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return ms === 0 ? "0s" : `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
