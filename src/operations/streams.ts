import { type Caller, type ChatId, Fault, type OperationInput, toProcessId } from "../contract/index.ts";
import { eventTypes } from "../contract/schemas.ts";
import {
  type EventBus,
  mayChange,
  type ProcessRecord,
  rangeOf,
  type StreamItem,
  type Supervisor,
  streamItems,
} from "../process/index.ts";
import type { Rooms } from "./create.ts";
import type { AttachControl, Attachment, Operations, SseMessage } from "./table.ts";
import { invalidField } from "./wire.ts";

type Names = "process.stream" | "events.stream" | "process.attach";
type EventFilter = Parameters<EventBus["subscribe"]>[0];

/** Events read at once; a slow reader holds no more than this. */
const EVENTS_PAGE = 200;

/** What goes on until somebody hangs up. */
export function streamOperations({ supervisor, metrics }: Rooms): Pick<Operations, Names> {
  return {
    "process.stream"(input, caller) {
      const record = supervisor.get(input.id, caller);
      const from = toNumber("last_event_id", input.last_event_id) ?? input.from ?? 0;
      return followOutput(supervisor, record, from, caller.signal);
    },

    "events.stream"(input, caller) {
      const filter = toFilter(input, caller);
      const newest = supervisor.events.bounds().newest;
      const after = toNumber("last_event_id", input.last_event_id) ?? input.after ?? newest;
      return followEvents(supervisor.events, filter, after, caller.signal);
    },

    async "process.attach"(input, caller) {
      const record = supervisor.get(input.id, caller);
      const isMine = mayChange(caller, record.meta);
      const canWrite = isMine && record.meta.stdin === "open" && !record.ended && input.readonly !== true;
      const closing = new AbortController();
      const signal = AbortSignal.any([caller.signal, closing.signal]);
      return {
        readonly: !canWrite,
        output: attachedOutput(supervisor, record, input.cursor ?? 0, signal),
        async write(data) {
          if (!canWrite) throw new Fault("process/no-stdin", "This attachment is read-only.");
          await supervisor.use(record, (connection) => connection.writeStdin(data, {}));
        },
        async resize(cols, rows) {
          if (!isMine) throw new Fault("auth/read-only", "This token may only watch here; it cannot resize.");
          if (!record.meta.tty)
            throw new Fault("process/no-terminal", `Process "${record.id}" was started without tty.`);
          await supervisor.use(record, (connection) => connection.resize(cols, rows));
        },
        close: () => closing.abort(),
      } satisfies Attachment;
    },
  };

  async function* followOutput(
    host: Supervisor,
    record: ProcessRecord,
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<SseMessage, void, undefined> {
    for await (const item of streamItems(host, record, from, { signal, reuse: true })) {
      if (item.kind === "output") metrics.outputRead(item.to - item.from);
      yield toMessage(item);
    }
  }
}

/** Its id is the byte at which to resume. */
function toMessage(item: StreamItem): SseMessage {
  switch (item.kind) {
    case "output": {
      const { kind: event, from, to, data: bytes, stream } = item;
      return { event, id: String(to), output: { from, to, bytes, ...(stream && { stream }) } };
    }
    case "dropped":
      return { event: "dropped", id: String(item.to), data: { from: item.from, to: item.to } };
    case "exit":
      return { event: "exit", id: String(item.at), data: item.facts };
    case "end":
      return { event: "end", id: String(item.at), data: {} };
  }
}

/** Replay, its end, then live; the exit once. */
async function* attachedOutput(
  supervisor: Supervisor,
  record: ProcessRecord,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array | AttachControl, void, undefined> {
  const replayTo = supervisor.logEnd(record);
  let isReplay = true;
  if (from >= replayTo) {
    isReplay = false;
    yield { type: "replay_end", cursor: from };
  }
  for await (const item of streamItems(supervisor, record, from, { signal })) {
    if (isReplay && (item.kind === "exit" || item.kind === "end")) {
      isReplay = false;
      yield { type: "replay_end", cursor: item.at };
    }
    if (item.kind === "output") yield item.data;
    if (item.kind === "dropped") yield { type: "dropped", from: item.from, to: item.to };
    if (item.kind === "exit") yield { type: "exit", ...item.facts };
    if (isReplay && "to" in item && item.to >= replayTo) {
      isReplay = false;
      yield { type: "replay_end", cursor: item.to };
    }
  }
}

/** The store is read for every page and the subscription only wakes: nothing is queued, nothing comes twice. */
async function* followEvents(
  events: EventBus,
  filter: EventFilter,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<SseMessage, void, undefined> {
  let last = after;
  let wake = (): void => undefined;
  let isNew = true;
  const stop = events.subscribe(filter, () => {
    isNew = true;
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  try {
    const { oldest } = events.bounds();
    if (last < oldest - 1) yield { event: "gap", data: { from: last + 1, to: oldest - 1 } };
    while (!signal.aborted) {
      isNew = false;
      const page = events.after(last, filter, EVENTS_PAGE);
      for (const event of page) {
        last = event.seq;
        yield { event: event.type, id: String(event.seq), data: event };
        if (signal.aborted) return;
      }
      if (page.length === 0 && !isNew) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
  }
}

/** A caller with a chat, by its token or its header, hears of that chat only. */
function toFilter(input: OperationInput<"events.stream">, caller: Caller): EventFilter {
  const filter: EventFilter = { within: rangeOf(caller) };
  const isHeaders = caller.scope.kind === "all" && caller.chatId !== undefined;
  if (input.chat !== undefined && !isHeaders) filter.chat = input.chat as ChatId;
  if (input.process !== undefined) {
    const process = toProcessId(input.process);
    if (!process) throw invalidField("process", "it is not a process id");
    filter.process = process;
  }
  if (input.type !== undefined) filter.types = input.type.split(",").map(toType);
  return filter;
}

function toType(text: string) {
  const type = eventTypes.find((known) => known === text.trim());
  if (!type) throw invalidField("type", `"${text}" is none of ${eventTypes.join(", ")}`);
  return type;
}

function toNumber(field: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (!/^\d{1,15}$/.test(text)) throw invalidField(field, "it is not a number");
  return Number(text);
}
