import { InvalidArgumentError } from "commander";

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds from `500ms`, `2s`, `1m30s`, `4h`, `2d`; a bare number is seconds. */
export function parseDuration(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) {
    throw new InvalidArgumentError("Write a duration as 500ms, 2s, 10m, 1h30m or 2d.");
  }
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    sum += Number(number) * (units[unit ?? ""] ?? 0);
  return Math.round(sum);
}

/** One number and one letter: `3s`, `2m`, `4h`, `9d`. Rounds down, so that an age is never ahead of the clock. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
