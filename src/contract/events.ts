import { z } from "zod";

/** Past tense, closed. */
export const eventTypes = [
  "daemon.started",
  "daemon.stopped",
  "process.started",
  "process.exited",
  "process.ended",
  "process.lost",
  "process.warned",
  "process.removed",
] as const;
export type EventType = (typeof eventTypes)[number];

/** One numbered line in the daemon's durable event log. */
export const event = z
  .object({
    seq: z.int(),
    type: z.enum(eventTypes),
    at: z.string(),
    machine_id: z.string(),
    chat_id: z.string().optional(),
    ancestor_chat_ids: z.array(z.string()).optional().describe("The chats above that one."),
    process_id: z.string().optional(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "Event" });

export const eventsQuery = z.object({
  after: z.coerce.number().int().min(0).optional().describe("Only what came after this number; absent: from now on."),
  last_event_id: z.string().optional(),
  process: z.string().optional(),
  chat: z.string().optional(),
  type: z.string().optional().describe("One or more types, with commas between."),
});
