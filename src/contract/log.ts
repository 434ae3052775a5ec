import { z } from "zod";

const range = z.tuple([z.int().min(0), z.int().min(0)]);
const offset = z.coerce.number().int().min(0);

export const logQuery = z.object({
  from: offset.optional(),
  to: offset.optional(),
  tail: offset.optional().describe("The last N bytes instead of `from`."),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1 << 20)
    .optional(),
  view: z.enum(["raw", "text", "screen"]).optional(),
  stream: z.enum(["stdout", "stderr"]).optional().describe('Only with `streams: "split"`.'),
});
export const logAnswer = z
  .object({
    from: z.int().min(0),
    to: z.int().min(0),
    end: z.int().min(0),
    next: z.int().min(0),
    dropped: z.array(range),
    data: z.string(),
    encoding: z.enum(["utf-8", "base64"]),
    cols: z.int().optional(),
    rows: z.int().optional(),
    cursor: z.object({ row: z.int(), col: z.int() }).optional().describe("With `view=screen`."),
  })
  .meta({ id: "LogAnswer" });

export const searchQuery = z.object({
  q: z.string().min(1).max(4096),
  regex: z.stringbool().optional(),
  ignore_case: z.stringbool().optional(),
  context: z.coerce.number().int().min(0).max(20).optional(),
  from: offset.optional(),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
});
export const searchAnswer = z
  .object({
    matches: z.array(
      z.object({
        from: z.int(),
        to: z.int(),
        line: z.string(),
        before: z.array(z.string()),
        after: z.array(z.string()),
      }),
    ),
    searched: range,
    next: z.int().optional().describe("Go on from here: the limit was reached."),
    dropped: z.array(range),
  })
  .meta({ id: "SearchAnswer" });

export const streamQuery = z.object({
  from: offset.optional(),
  last_event_id: z.string().optional(),
});
/** `event: output` of the stream. */
export const outputChunk = z
  .object({
    from: z.int(),
    to: z.int(),
    stream: z.enum(["stdout", "stderr"]).optional(),
    data: z.string(),
    encoding: z.enum(["utf-8", "base64"]),
  })
  .meta({ id: "OutputChunk" });

export const attachQuery = z.object({
  cursor: offset.optional(),
  readonly: z.stringbool().optional(),
});
