import { type Caller, Fault, LIST_EXITED, LIST_EXITED_MS, LIST_PAGE, type OperationInput } from "../contract/index.ts";
import type { Core } from "./core.ts";
import { ProcessRecord } from "./record.ts";
import { isWithin, rangeOf } from "./visibility.ts";

export type ListQuery = OperationInput<"process.list">;
export interface ListPage {
  records: ProcessRecord[];
  next?: string;
  /** Exited ones that the default list does not show. */
  hidden?: number;
}

/** Where a page begins: among those that run, or among those that ended, below a number of start. */
interface Place {
  running: boolean;
  before: number;
}

/** Running ones first, then ended ones, newest first. By default every running one, and of the others what fills up to ten. */
export function listRecords(core: Core, query: ListQuery, caller: Caller): ListPage {
  core.journal.flush();
  const place = query.cursor === undefined ? { running: true, before: Infinity } : parseCursor(query.cursor);
  const paged = query.limit !== undefined || query.all === true || query.cursor !== undefined;
  const limit = paged ? (query.limit ?? LIST_PAGE) : Infinity;
  const running = place.running ? findRunning(core, query, caller, place.before) : [];
  if (running.length > limit) return page(running.slice(0, limit), running[limit - 1]);
  const room = paged ? limit - running.length : Math.max(0, LIST_EXITED - running.length);
  const before = place.running ? Infinity : place.before;
  const since = query.all === true || query.cursor !== undefined ? undefined : core.clock.now() - LIST_EXITED_MS;
  const ended = room === 0 && !paged ? [] : findEnded(core, query, caller, { limit: room + 1, before, since });
  const shown = ended.slice(0, room);
  const records = [...running, ...shown];
  if (paged) return ended.length > room ? page(records, records.at(-1) ?? undefined) : { records };
  const hidden = countEnded(core, query, caller) - shown.length;
  return hidden > 0 ? { records, hidden } : { records };
}

function page(records: ProcessRecord[], last: ProcessRecord | undefined): ListPage {
  return last ? { records, next: `${last.running ? "r" : "e"}${last.meta.seq}` } : { records };
}

function parseCursor(text: string): Place {
  const found = /^([re])(\d{1,15})$/.exec(text);
  if (!found) {
    throw new Fault("request/invalid", "The cursor is not one of ours.", {
      validations: [{ field: "cursor", detail: "pass `next` of the page before" }],
    });
  }
  return { running: found[1] === "r", before: Number(found[2]) };
}

function findRunning(core: Core, query: ListQuery, caller: Caller, before: number): ProcessRecord[] {
  const found: ProcessRecord[] = [];
  for (const record of core.register.live.values()) {
    if (record.running && record.meta.seq < before && isAsked(record, query, caller)) found.push(record);
  }
  return found.sort((a, b) => b.meta.seq - a.meta.seq);
}

function isAsked({ id, meta }: ProcessRecord, query: ListQuery, caller: Caller): boolean {
  if (!isWithin(rangeOf(caller), meta)) return false;
  if (query.label !== undefined && meta.label !== query.label) return false;
  return query.prefix === undefined || id.startsWith(query.prefix);
}

function findEnded(
  core: Core,
  query: ListQuery,
  caller: Caller,
  o: { limit: number; before: number; since: number | undefined },
): ProcessRecord[] {
  const rows = core.store.processes.page({
    ...where(query, caller),
    ...(Number.isFinite(o.before) && { before: o.before }),
    ...(o.since !== undefined && { endedAfterMs: o.since }),
    limit: o.limit,
  });
  return rows.map(
    (row) => core.register.live.get(row.meta.id) ?? new ProcessRecord(row.meta, row.facts, row.announced),
  );
}

function countEnded(core: Core, query: ListQuery, caller: Caller): number {
  return core.store.processes.countEnded(where(query, caller));
}

function where(query: ListQuery, caller: Caller) {
  return {
    states: "ended" as const,
    within: rangeOf(caller),
    ...(query.label !== undefined && { label: query.label }),
    ...(query.prefix !== undefined && { prefix: query.prefix }),
  };
}
