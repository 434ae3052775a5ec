import type { DroverEvent, EventType } from "../contract/index.ts";
import type { Connection } from "./connection.ts";
import { readStream } from "./stream.ts";

export interface EventsOptions {
  /** Only what came after this number; 0 for all that is kept, absent for what happens from now on. */
  after?: number | undefined;
  process?: string | undefined;
  chat?: string | undefined;
  type?: readonly EventType[] | undefined;
  signal?: AbortSignal | undefined;
}

/** Events between two numbers are no longer kept: state has to be read anew. */
export interface EventGap extends Record<string, unknown> {
  type: "gap";
}

/** The numbered event log, live, over as many connections as it takes; each number comes once. */
export async function* readEvents(
  connection: Connection,
  options: EventsOptions = {},
): AsyncGenerator<DroverEvent | EventGap> {
  const { signal, type, process, chat } = options;
  let after = options.after;
  const input = () => ({ after, process, chat, type: type?.join(",") });
  for await (const { event, data, id } of readStream(connection, { name: "events.stream", input, signal })) {
    const value = JSON.parse(data) as DroverEvent | Record<string, unknown>;
    const seq = id === undefined || id === "" ? undefined : Number(id);
    if (event === "gap") yield { ...value, type: "gap" } as EventGap;
    else if (
      typeof value["seq"] === "number" &&
      typeof value["type"] === "string" &&
      !(value["seq"] <= (after ?? -1))
    ) {
      after = value["seq"];
      yield value as DroverEvent;
    }
    // A message that is neither may still tell where the stream stands.
    if (seq !== undefined && seq > (after ?? -1)) after = seq;
  }
}
