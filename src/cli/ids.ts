import { Fault, type ProcessId, type ProcessSummary, toProcessId } from "../contract/index.ts";
import type { Client } from "../sdk/index.ts";
import { oneLine } from "./one-line.ts";
import { describeState } from "./state.ts";

/** Shorter prefixes would match by accident. */
const PREFIX_LEAST = 4;
/** Enough to see that a name is ambiguous and to list the candidates. */
const CANDIDATES = 20;

/** How ids are shown to people. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** The id behind what a person typed: a full id, a label, or a unique prefix of an id. */
export async function resolveId(client: Client, text: string): Promise<ProcessId> {
  const full = toProcessId(text.toLowerCase());
  if (full) return full;
  const asPrefix = /^[0-9a-f-]+$/i.test(text) && text.length >= PREFIX_LEAST;
  const [labelled, prefixed] = await Promise.all([
    client.processes.list({ label: text, all: true, limit: CANDIDATES }),
    asPrefix ? client.processes.list({ prefix: text.toLowerCase(), all: true, limit: CANDIDATES }) : { processes: [] },
  ]);
  return chooseProcess(text, labelled.processes, prefixed.processes).id as ProcessId;
}

/**
 * A label wins over a prefix, because somebody chose it. Of several processes with one label the running one is meant,
 * or, when none runs, the newest; several running ones are ambiguous.
 */
export function chooseProcess(
  text: string,
  labelled: readonly ProcessSummary[],
  prefixed: readonly ProcessSummary[],
): ProcessSummary {
  const running = labelled.filter((p) => p.running);
  const meant = running.length > 0 ? running : newest(labelled);
  const found = meant.length > 0 ? meant : prefixed;
  if (found.length > 1) throw ambiguous(text, found);
  const only = found[0];
  if (!only) throw notFound(text);
  return only;
}

function newest(processes: readonly ProcessSummary[]): ProcessSummary[] {
  const [first] = [...processes].sort((a, b) => b.seq - a.seq);
  return first ? [first] : [];
}

function notFound(text: string): Fault {
  const short =
    text.length < PREFIX_LEAST ? { detail: `A prefix of an id needs at least ${PREFIX_LEAST} characters.` } : {};
  return new Fault("process/not-found", `no process has the id, prefix or label "${oneLine(text)}".`, short);
}

function ambiguous(text: string, found: readonly ProcessSummary[]): Fault {
  const lines = found.map(
    (p) => `${shortId(p.id)}  ${describeState(p)}  ${oneLine(p.label ?? p.command).slice(0, 60)}`,
  );
  return new Fault("process/ambiguous", `"${oneLine(text)}" means several processes; name one by its id.`, {
    detail: lines.join("\n"),
    data: { candidates: found.map((p) => p.id) },
  });
}
