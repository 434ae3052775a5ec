import { InvalidArgumentError } from "commander";

const steps = ["", "k", "m", "g", "t"];

/** Bytes from `512m`, `2g`, `64k`, `1.5GiB` or a bare number; a step is 1024. */
export function parseSize(text: string): number {
  const found = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text);
  if (!found) throw new InvalidArgumentError("Write a size as 512m, 2g, 64k or a number of bytes.");
  return Math.round(Number(found[1]) * 1024 ** steps.indexOf((found[2] ?? "").toLowerCase()));
}

/** `0 B`, `640 B`, `1.5 KiB`, `64 MiB`. */
export function formatSize(bytes: number): string {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let step = 0;
  while (value >= 1024 && step < names.length - 1) {
    value /= 1024;
    step += 1;
  }
  const digits = step === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits).replace(/\.0$/, "")} ${names[step]}`;
}
