import { constants } from "node:os";

const numbers = constants.signals as Record<string, number | undefined>;
const names = new Map(Object.entries(numbers).map(([name, number]) => [number, name]));
// Aliases share numbers; the first name of POSIX wins.
for (const name of ["SIGABRT", "SIGIO", "SIGCHLD"]) names.set(numbers[name], name);

/** `SIGTERM` from 15; `SIG34` for those without a name. */
export function signalName(number: number): string {
  return names.get(number) ?? `SIG${number}`;
}

/** 15 from `SIGTERM`, `TERM`, `term`, `15`, `terminate`; undefined when there is no such signal. */
export function signalNumber(text: string): number | undefined {
  if (text === "terminate") return numbers["SIGTERM"];
  if (/^\d+$/.test(text)) return Number(text) >= 1 && Number(text) <= 64 ? Number(text) : undefined;
  const name = text.toUpperCase();
  return numbers[name.startsWith("SIG") ? name : `SIG${name}`];
}
