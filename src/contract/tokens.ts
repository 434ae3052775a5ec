import { z } from "zod";

/** Ten years: longer than any machine keeps its home, and still a safe number of milliseconds. */
const EXPIRES_MOST_MS = 3650 * 86_400_000;

export const tokenRequest = z
  .object({
    label: z.string().min(1).max(200).optional().describe("What it is for; shown in the list."),
    chat: z.string().optional().describe("The chat it is bound to; absent: everything."),
    read_only: z.boolean().optional().describe("It may look and wait, and change nothing."),
    descendants: z
      .boolean()
      .optional()
      .describe("With `chat`: also read, signal and stop the processes of chats below that one."),
    expires_in_ms: z.int().min(1).max(EXPIRES_MOST_MS).optional().describe("Absent: it is valid until it is revoked."),
  })
  .meta({ id: "TokenRequest" });

/** A token as anybody may see it: never the token itself. */
export const tokenInfo = z
  .object({
    id: z.string(),
    label: z.string().optional(),
    chat_id: z.string().optional(),
    read_only: z.boolean(),
    descendants: z.boolean(),
    created_at: z.string(),
    expires_at: z.string().optional(),
    expired: z.literal(true).optional(),
    last_used_at: z.string().optional().describe("To the minute."),
  })
  .meta({ id: "TokenInfo" });

export const tokenCreated = tokenInfo
  .extend({ token: z.string().describe("Shown this once; only its digest is kept.") })
  .meta({ id: "TokenCreated" });

export const tokenList = z.object({ tokens: z.array(tokenInfo) }).meta({ id: "TokenList" });

export const chatEnded = z
  .object({
    stopped: z.array(z.string()).describe("Processes with `on_chat_end: stop`, ended with everything they started."),
    kept: z.array(z.string()).describe("Processes that go on."),
  })
  .meta({ id: "ChatEnded" });
