import { nearest } from "../base/index.ts";
import { Fault } from "../contract/index.ts";

/** Shorter prefixes would match by accident. */
export const PREFIX_LEAST = 4;

/** A process as far as names go. */
export interface Named {
  readonly id: string;
  readonly label?: string | undefined;
  readonly command: string;
  readonly running: boolean;
  readonly seq: number;
}

/** Whether the text could be the beginning of an id. */
export function isPrefix(text: string): boolean {
  return text.length >= PREFIX_LEAST && /^[0-9a-f-]+$/i.test(text);
}

/**
 * The process that a name means. A label wins over a prefix, because somebody chose it; of several with one label the running one
 * is meant, or the newest when none runs. A name that means none is answered with those that run.
 */
export function chooseProcess<T extends Named>(
  name: string,
  found: { labelled: readonly T[]; prefixed: readonly T[]; running: readonly T[] },
): T {
  const running = found.labelled.filter((process) => process.running);
  const newest = found.labelled.toSorted((a, b) => b.seq - a.seq).slice(0, 1);
  const labelled = running.length > 0 ? running : newest;
  const meant = labelled.length > 0 ? labelled : found.prefixed;
  const [only] = meant;
  if (only && meant.length === 1) return only;
  if (meant.length > 1) {
    throw new Fault(
      "process/ambiguous",
      `"${name}" means several processes: ${describeAll(meant)}. Give the whole id.`,
    );
  }
  throw notFound(name, found.running);
}

function notFound(name: string, running: readonly Named[]): Fault {
  const close = nearest(
    name,
    running.flatMap(({ id, label }) => (label === undefined ? [id] : [id, label])),
  );
  const hint = close === undefined ? "" : ` Did you mean "${close}"?`;
  const rest = running.length === 0 ? "Nothing is running." : `Running: ${describeAll(running)}.`;
  return new Fault("process/not-found", `No process has the id, prefix or label "${name}".${hint} ${rest}`);
}

function describeAll(processes: readonly Named[]): string {
  const shown = processes.slice(0, 10).map(({ id, label, command }) => {
    const name = label === undefined ? id : `${id} (label ${label})`;
    return `${name}: ${oneLine(command)}`;
  });
  const more = processes.length > shown.length ? `; and ${processes.length - shown.length} more` : "";
  return shown.join("; ") + more;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
