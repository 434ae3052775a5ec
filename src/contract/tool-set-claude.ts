import { z } from "zod";
import { fromMs, plainTools, present, readingCall } from "./tool-alias.ts";
import type { Alias } from "./tool-definition.ts";
import { processResult, searchResult, stopResult, waitResult } from "./tool-results.ts";

const looks = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const runs = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
const ends = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };

const id = z.string().min(1).max(200);
const ms = z.number().min(0).max(86_400_000);
const from = z
  .int()
  .min(0)
  .optional()
  .describe("First byte to show; `next` of an earlier result shows only what is new.");
const to = z.int().min(0).optional().describe("Byte after the last one to show, for a hole listed in `omitted`.");

const bash: Alias = {
  name: "Bash",
  title: "Run a command",
  description: `Run a bash command. Waits up to \`timeout\` ms (45000 at most a call); then it runs on, and the result names the one call that waits for the rest: do not run it again. Servers and long builds: \`run_in_background: true\`, then process_wait for a port or a line of output. A trailing \`&\` does the same. Long output keeps its start and its end; \`omitted\` names the hole and the call that fetches it.`,
  input: z.strictObject({
    command: z.string().min(1),
    timeout: ms.optional().describe("Milliseconds; default 45000."),
    description: z.string().max(1000).optional().describe("What it does, in 5 to 10 words."),
    run_in_background: z.boolean().optional(),
    tty: z.boolean().optional().describe("Give it a terminal, for prompts; answer with process_input."),
  }),
  output: waitResult,
  annotations: runs,
  toCall: ({ command, timeout, description, run_in_background, tty }) => ({
    tool: "execute",
    arguments: present({
      command,
      shell: "bash",
      timeout: fromMs(timeout) ?? "45s",
      model_intent: description,
      run_in_background,
      tty,
    }),
  }),
  fromCall: () => undefined,
};

const bashOutput: Alias = {
  name: "BashOutput",
  title: "Read output",
  description:
    "Output and state of a background command, without waiting. `filter` shows only lines that match a regular expression. To wait use TaskOutput or process_wait, never a loop of this.",
  input: z.strictObject({ bash_id: id, filter: z.string().min(1).max(4096).optional(), from, to }),
  output: processResult.extend(searchResult.omit({ success: true, process_id: true, next: true }).shape),
  annotations: looks,
  toCall: ({ bash_id, filter, from: first, to: last }) =>
    filter === undefined
      ? {
          tool: "process_output",
          arguments: present({ process_id: bash_id, wait_timeout: "0s", from: first, to: last }),
        }
      : {
          tool: "process_search",
          arguments: present({ process_id: bash_id, query: filter, regex: true, from: first }),
        },
  fromCall: (call) => readingCall(call, "bash_id"),
};

const taskOutput: Alias = {
  name: "TaskOutput",
  title: "Wait for a command",
  description:
    "Output of a background command. `block` (default true) waits for its exit, up to `timeout` ms (default 30000, at most 45000 a call).",
  input: z.strictObject({
    task_id: id,
    block: z.boolean().optional(),
    timeout: ms.optional().describe("Milliseconds; default 30000."),
    from,
    to,
  }),
  output: processResult,
  annotations: looks,
  toCall: ({ task_id, block, timeout, from: first, to: last }) => ({
    tool: "process_output",
    arguments: present({
      process_id: task_id,
      wait_timeout: block === false ? "0s" : (fromMs(timeout) ?? "30s"),
      from: first,
      to: last,
    }),
  }),
  fromCall: (call) => readingCall(call, "task_id"),
};

const monitor: Alias = {
  name: "Monitor",
  title: "Watch with a command",
  description:
    "Start a command whose lines of output are events (`tail -f … | grep --line-buffered ERROR`) in the background. Read new events with TaskOutput and `from`, wait for one with process_wait. Ends after `timeout_ms` (default 300000) unless `persistent`.",
  input: z.strictObject({
    command: z.string().min(1),
    description: z.string().max(1000).optional(),
    timeout_ms: z.number().min(1000).max(3_600_000).optional(),
    persistent: z.boolean().optional(),
  }),
  output: waitResult,
  annotations: runs,
  toCall: ({ command, description, timeout_ms, persistent }) => ({
    tool: "execute",
    arguments: present({
      command,
      shell: "bash",
      model_intent: description,
      run_in_background: true,
      lifetime: persistent === true ? undefined : (fromMs(timeout_ms) ?? "300s"),
    }),
  }),
  fromCall: () => undefined,
};

const stopper = (name: string, idName: "shell_id" | "task_id"): Alias => ({
  name,
  title: "Stop a command",
  description: "End a background command and everything it started. Returns when nothing is left.",
  input: z.strictObject({ [idName]: id }),
  output: stopResult,
  annotations: ends,
  toCall: (given) => ({ tool: "process_stop", arguments: { process_id: given[idName] } }),
  fromCall: (call) => (call.tool === "process_stop" ? { [idName]: call.arguments["process_id"] } : undefined),
});

/** What Claude Code's models know, and what they have no word for. TaskOutput comes first, so that results name it. */
export const claudeTools: readonly Alias[] = [
  bash,
  taskOutput,
  bashOutput,
  stopper("TaskStop", "task_id"),
  stopper("KillShell", "shell_id"),
  monitor,
  ...plainTools("process_wait", "process_input", "process_list", "process_search"),
];
