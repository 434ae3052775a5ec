import { z } from "zod";

/** Conditions of a wait: any subset, the first that holds fires. */
export const waitFor = z
  .object({
    exit: z.boolean().optional(),
    match: z.string().min(1).max(4096).optional().describe("Regular expression, looked for from `cursor` on."),
    port: z.int().min(1).max(65_535).optional().describe("The process, or one of its descendants, listens on it."),
    http: z.string().max(2048).optional().describe("A loopback address that answers with a status below 500."),
    idle_ms: z.int().min(1).max(86_400_000).optional().describe("No output for this long."),
    bytes: z.int().min(1).optional().describe("This many new bytes since `cursor`."),
    activity: z
      .enum(["busy", "sleeping", "listening", "waiting_line", "waiting_secret", "waiting_keys", "stopped"])
      .optional()
      .describe("What the kernel says it is doing."),
  })
  .meta({ id: "WaitFor" });

export const waitRequest = z
  .object({
    for: waitFor.optional().describe("Default: exit."),
    cursor: z.int().min(0).optional().describe("Default: from now on; inside `start`: from the first byte."),
    timeout_ms: z.int().min(0).max(86_400_000).optional().describe("Default 30000."),
  })
  .meta({ id: "WaitRequest" });

export const waitAnswer = z
  .object({
    fired: z.enum(["exit", "match", "port", "http", "idle", "bytes", "activity", "timeout"]),
    running: z.boolean(),
    match: z.object({ text: z.string(), from: z.int(), to: z.int() }).optional(),
    exit_code: z.int().optional(),
    signal: z.string().optional(),
    reason: z.string().optional(),
    activity: z.string().optional(),
    port_held_by: z
      .string()
      .optional()
      .describe("When a wait for a port timed out because somebody else listens on it."),
    cursor: z.int().min(0).describe("Pass it to the next wait."),
    output: z.string().describe("What is new since the cursor, head and tail when it is long."),
    omitted: z.array(z.tuple([z.int(), z.int()])).optional(),
  })
  .meta({ id: "WaitAnswer" });
