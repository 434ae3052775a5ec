import { type ChatEnded, type ChatId, Fault } from "../contract/index.ts";
import type { Core } from "./core.ts";
import type { Stops } from "./stop.ts";

/** Applies `on_chat_end` to everything of a chat that is not ended, leftovers included. Doing it again finds nothing left to stop. */
export async function endChat(core: Core, stops: Stops, chat: ChatId): Promise<ChatEnded> {
  const own = [...core.register.live.values()].filter(({ meta, ended }) => meta.chat_id === chat && !ended);
  const doomed = own.filter(({ meta }) => meta.on_chat_end === "stop");
  const kept = own.filter(({ meta }) => meta.on_chat_end === "keep").map(({ id }) => id);
  const results = await Promise.allSettled(doomed.map((record) => stops.stop(record)));
  const isStopped = (_: unknown, i: number) => results[i]?.status === "fulfilled";
  const stopped = doomed.filter(isStopped).map(({ id }) => id);
  const failed = results.filter((result) => result.status === "rejected").map(({ reason }) => reason as unknown);
  const bug = failed.find((reason) => !(reason instanceof Fault));
  if (bug !== undefined) throw bug;
  if (failed.length === 0) return { stopped, kept };
  const left = (failed as Fault[]).flatMap(({ data, message }) => data?.["left"] ?? [{ why: message }]);
  throw new Fault("process/stop-incomplete", `${failed.length} of the chat's processes could not be ended.`, {
    data: { stopped, kept, left },
  });
}
