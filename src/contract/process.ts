import { z } from "zod";
import { waitAnswer, waitRequest } from "./wait.ts";

const text = (max: number) => z.string().max(max);
const count = z.int().min(0);

/** What a command may use. Each answer says how it is enforced. */
export const limits = z
  .object({
    memory_bytes: z
      .int()
      .min(1 << 20)
      .optional()
      .describe("Memory of the whole tree."),
    pids: z.int().min(1).optional().describe("Processes of the whole tree, the command included."),
    cpu_weight: z.int().min(1).max(10_000).optional().describe("cgroup v2 cpu.weight; 100 is ordinary."),
    nice: z.int().min(-20).max(19).optional(),
    oom_score_adj: z.int().min(-1000).max(1000).optional(),
  })
  .meta({ id: "Limits" });

const stdinOpen = z.object({ open: z.literal(true), data: text(4 << 20).optional() });

/** Body of `POST /processes/start`. Everything but `command` or `argv` is optional. */
export const startRequest = z
  .object({
    command: z.string().optional().describe("A shell text, run by `sh -c`."),
    argv: z.array(z.string()).min(1).optional().describe("Instead of `command`: run this without a shell."),
    workdir: z.string().optional().describe("Default: the configured directory, else $HOME."),
    env: z.record(z.string(), z.string()).optional().describe("Added to the base environment; stored nowhere."),
    background: z.boolean().optional().describe("Stored and listed; changes nothing."),
    shell: text(4096).optional().describe("`sh` (default), `bash`, another name on the PATH, or a path."),
    login: z.boolean().optional().describe("Start the shell as a login shell."),
    tty: z.boolean().optional().describe("Give the process a terminal of its own."),
    cols: z.int().min(1).max(1000).optional(),
    rows: z.int().min(1).max(1000).optional(),
    stdin: z
      .union([text(4 << 20), stdinOpen])
      .optional()
      .describe("Text: written, then closed. `{open: true}`: stays open for POST …/stdin. Absent: /dev/null."),
    label: text(200).min(1).optional(),
    client_token: text(256)
      .min(1)
      .optional()
      .describe("Makes a repeated start safe: same token, same request, same process."),
    timeout_ms: z.int().min(1).optional().describe("Lifetime; none by default."),
    idle_timeout_ms: z.int().min(1).optional().describe("Longest silence; none by default."),
    stop_grace_ms: z.int().min(0).max(3_600_000).optional().describe("Between TERM and KILL; default 5000."),
    on_chat_end: z.enum(["keep", "stop"]).optional(),
    limits: limits.optional(),
    streams: z
      .enum(["merged", "split"])
      .optional()
      .describe("`merged`: exact order. `split`: stdout and stderr told apart."),
    log_bytes: z.int().min(65_536).optional().describe("May lower the bound of the log on disk."),
    wait: waitRequest.optional().describe("Start and wait in one call."),
  })
  .meta({ id: "StartRequest" });

export const startAnswer = z
  .object({
    id: z.string(),
    started: z.literal(true),
    attached: z.literal(true).optional().describe("An earlier start with this client_token made this process."),
    pid: z.int().optional(),
    started_at: z.string(),
    wait: waitAnswer.optional(),
  })
  .meta({ id: "StartAnswer" });

export const processState = z.enum(["starting", "running", "exited", "lost"]).meta({ id: "ProcessState" });
export const endReason = z
  .enum([
    "signalled_by_user",
    "stopped",
    "timeout",
    "idle_timeout",
    "oom",
    "limit",
    "crashed",
    "signalled",
    "lost",
    "not_observed",
  ])
  .meta({ id: "EndReason" });
export const activity = z
  .enum(["unknown", "busy", "sleeping", "listening", "waiting_line", "waiting_secret", "waiting_keys", "stopped"])
  .meta({ id: "Activity" });

/** How a process ended; all absent while it runs. */
const endFields = {
  exit_code: z.int().optional().describe("-1 when a signal ended it or the code is not known."),
  signal: z.string().optional(),
  reason: endReason.optional(),
};

export const leftover = z.object({ pid: z.int(), command: z.string() }).meta({ id: "Leftover" });

/** An entry of the list: the original's fields, then ours. */
export const processSummary = z
  .object({
    id: z.string(),
    command: z.string(),
    workdir: z.string().optional(),
    background: z.boolean(),
    running: z.boolean(),
    ...endFields,
    started_at_unix: count,
    exited_at_unix: count.optional(),
    state: processState,
    label: z.string().optional(),
    chat_id: z.string().optional(),
    pid: z.int().optional(),
    tty: z.boolean(),
    started_at: z.string(),
    exited_at: z.string().optional(),
    leftover_count: count.optional().describe("Descendants alive after the command ended."),
    log_end: count.describe("Bytes written so far."),
    seq: z.int().describe("Order of starts in this home."),
    request_id: z.string().optional().describe("Of the request that started it (`X-Request-Id`)."),
  })
  .meta({ id: "ProcessSummary" });

export const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).optional().describe("Most entries of this page."),
  all: z.stringbool().optional().describe("Exited ones too, however old."),
  cursor: z.string().max(200).optional().describe("`next` of the page before."),
  label: z.string().max(200).optional(),
  prefix: z.string().max(36).optional().describe("Ids that start with this."),
});
export const listAnswer = z
  .object({
    processes: z.array(processSummary),
    next: z.string().optional(),
    hidden: count.optional().describe("Exited ones not shown."),
  })
  .meta({ id: "ListAnswer" });

export const truncation = z
  .object({
    original_bytes: count,
    retained_bytes: count,
    omitted_bytes: count,
    strategy: z.literal("head_tail"),
    cut_lines: count.optional(),
    omitted: z
      .array(z.tuple([count, count]))
      .optional()
      .describe("Exact byte ranges that are not in `output`."),
  })
  .meta({ id: "Truncation" });

export const outputQuery = z.object({ wait: z.string().optional().describe("Only the text `true` waits.") });
export const outputAnswer = z
  .object({
    output: z.string(),
    truncated: truncation.optional(),
    running: z.boolean(),
    ...endFields,
    command: z.string().optional(),
    leftovers: z.array(leftover).optional(),
    log_end: count,
  })
  .meta({ id: "OutputAnswer" });

export const signalRequest = z
  .object({
    signal: z.string().optional().describe("`kill`, `terminate`, a name such as `INT` or `SIGINT`, or a number."),
    scope: z.enum(["group", "leader", "tree"]).optional(),
  })
  .meta({ id: "SignalRequest" });
export const signalAnswer = z.object({ message: z.string(), reached: count }).meta({ id: "SignalAnswer" });

export const usage = z
  .object({
    user_ms: count,
    system_ms: count,
    max_rss_bytes: count.optional(),
    rss_bytes: count.optional(),
    read_bytes: count.optional(),
    written_bytes: count.optional(),
    wall_ms: count,
  })
  .meta({ id: "Usage" });

const enforced = z.enum(["cgroup", "watched", "kernel", "none"]);

/** Everything known about one process. */
export const processInfo = processSummary
  .extend({
    argv: z.array(z.string()),
    machine_id: z.string(),
    shell: z.string().optional(),
    streams: z.enum(["merged", "split", "tty"]),
    cols: z.int().optional(),
    rows: z.int().optional(),
    stdin: z.enum(["null", "open", "closed"]),
    supervised: z.boolean(),
    evidence: z.string().optional().describe("What a `lost` state or a warning rests on."),
    warnings: z.array(z.string()),
    pid_start: z.int().optional().describe("Start time in clock ticks since boot: with the pid, an identity."),
    usage: usage.optional(),
    leftovers: z.array(leftover).optional(),
    ports: z.array(z.object({ port: z.int(), pid: z.int(), address: z.string() })).optional(),
    activity: activity.optional(),
    limits: limits.optional(),
    limits_enforced: z.record(z.string(), enforced).optional(),
    timeout_ms: z.int().optional(),
    idle_timeout_ms: z.int().optional(),
    on_chat_end: z.enum(["keep", "stop"]),
    log: z.object({ end: count, kept_bytes: count, dropped: z.array(z.tuple([count, count])) }),
    traceparent: z.string().optional(),
  })
  .meta({ id: "ProcessInfo" });

export const stopRequest = z
  .object({
    signals: z
      .array(z.object({ signal: z.string(), wait_ms: z.int().min(0).max(3_600_000).optional() }))
      .min(1)
      .max(7)
      .optional()
      .describe("Steps; default TERM, 5 s, KILL. KILL is added at the end when it is missing."),
  })
  .meta({ id: "StopRequest" });
export const endedProcess = z.object({ pid: z.int(), command: z.string(), by: z.string() });
export const leftProcess = z.object({ pid: z.int(), command: z.string(), why: z.string() });
export const stopAnswer = z
  .object({
    stopped: z.boolean(),
    ...endFields,
    ended: z.array(endedProcess).describe("Every process that was ended and by what; `exit` when it went by itself."),
    left: z.array(leftProcess),
  })
  .meta({ id: "StopAnswer" });

export const stdinRequest = z
  .object({
    data: z.string().optional(),
    encoding: z.enum(["utf-8", "base64"]).optional(),
    close: z.boolean().optional(),
    write_id: z.string().min(1).max(256).optional().describe("The same id is never written twice."),
  })
  .meta({ id: "StdinRequest" });
export const stdinAnswer = z.object({ written: count, duplicate: z.boolean() }).meta({ id: "StdinAnswer" });

export const resizeRequest = z
  .object({ cols: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) })
  .meta({ id: "ResizeRequest" });

export const treeProcess = z
  .object({
    pid: z.int(),
    ppid: z.int(),
    state: z.string(),
    command: z.string(),
    session: z.int().optional(),
    rss_bytes: count.optional(),
  })
  .meta({ id: "TreeProcess" });
export const treeAnswer = z.object({ processes: z.array(treeProcess) }).meta({ id: "TreeAnswer" });

export const adoptRequest = z
  .object({ pid: z.int().min(2), label: text(200).min(1).optional() })
  .meta({ id: "AdoptRequest" });
