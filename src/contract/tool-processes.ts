import { z } from "zod";
import { TOOL_OUTPUT_MAX_BYTES, TOOL_OUTPUT_MIN_BYTES } from "./bounds.ts";
import type { ToolAnnotations, ToolDefinition } from "./tool-definition.ts";
import * as result from "./tool-results.ts";

const duration = z.string().max(64);
const processId = z.string().min(1).max(200).describe("Id, a unique prefix of it (4 characters or more), or label.");
const offset = z.int().min(0);
const intent = z.string().max(1000).optional().describe("What this is for, in a few words; shown to the user.");
const maxOutput = z
  .int()
  .min(TOOL_OUTPUT_MIN_BYTES)
  .max(TOOL_OUTPUT_MAX_BYTES)
  .optional()
  .describe("Most bytes of `output`; default 32768. The end is always shown; a hole is in the middle.");

/** Conditions of a wait; the first that holds ends it, and so does the exit. */
const conditions = {
  port: z.int().min(1).max(65_535).optional().describe("It listens on this TCP port."),
  match: z.string().min(1).max(4096).optional().describe("Regular expression found in its output."),
  http: z.string().max(2048).optional().describe("This loopback address answers with a status below 500."),
};

const looks: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const ends: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};

const execute = {
  name: "execute",
  title: "Run a command",
  description: `Run a shell command (POSIX sh; \`shell: "bash"\` for bash) and return its output and exit code.

- Waits up to \`timeout\` (default 10s; one call never blocks longer than 45s). On timeout the command is NOT killed: it runs on, and the result has \`running: true\`, the output so far, and the one call that waits for the rest. Do not run it again.
- Servers, watchers and long builds: \`run_in_background: true\`, with \`wait_for\` to return as soon as it is ready: {"port": 3000}, {"match": "ready in"} or {"http": "http://127.0.0.1:3000/"}. No sleep and no polling loop.
- A trailing \`&\` makes the call a background start. \`a & b\`, \`(x &)\` and \`nohup x &\` work too: the result lists what still runs as \`leftovers\`.
- stdin is empty. For a command that asks questions use \`tty: true\`; the result says when it waits for input and which call answers.
- Long output keeps its start and its end; \`omitted\` names the hole and the call that fetches it. ANSI codes and progress bars are rendered away.
- Pagers and editors are off (PAGER=cat, EDITOR=true, CI=true). Read files with read_file instead of cat.`,
  input: z.strictObject({
    command: z.string().min(1).describe("Shell text."),
    model_intent: intent,
    timeout: duration.optional().describe('How long to wait, as "30s" or "1m30s"; default "10s".'),
    workdir: z.string().max(4096).optional().describe("Directory to run in."),
    run_in_background: z.boolean().optional().describe("Return at once, or when `wait_for` holds."),
    wait_for: z
      .strictObject(conditions)
      .optional()
      .describe("With run_in_background: return when one of these holds, within `timeout` (default 30s here)."),
    max_output_bytes: maxOutput,
    label: z.string().min(1).max(200).optional().describe("A name to use instead of the id."),
    tty: z.boolean().optional().describe("Give it a terminal: prompts, passwords, REPLs. Answer with process_input."),
    interactive: z.boolean().optional().describe("Keep stdin open as a pipe for process_input."),
    shell: z.string().max(4096).optional().describe('"sh" (default), "bash", or a path.'),
    login: z.boolean().optional().describe("Read the login profile first (nvm, pyenv, conda)."),
    lifetime: duration.optional().describe("End it (TERM, then KILL) after this long; none by default."),
  }),
  output: result.waitResult,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
} as const satisfies ToolDefinition;

const processOutput = {
  name: "process_output",
  title: "Read output",
  description: `Output and state of a process started by execute. Waits up to \`wait_timeout\` (default 10s, "0s" for a snapshot) for it to exit.

- \`from\` alone: only what is new since that byte (\`next\` of an earlier result).
- \`from\` and \`to\`: that part of the log, such as a hole listed in \`omitted\`; does not wait.
- To wait for a port, a line of output or the exit use process_wait, never a loop of this.`,
  input: z.strictObject({
    process_id: processId,
    wait_timeout: duration.optional().describe('How long to wait for the exit; default "10s", "0s" does not wait.'),
    from: offset.optional().describe("First byte of the log to show."),
    to: offset.optional().describe("Byte after the last one to show."),
    max_output_bytes: maxOutput,
    model_intent: intent,
  }),
  output: result.processResult,
  annotations: looks,
} as const satisfies ToolDefinition;

const processWait = {
  name: "process_wait",
  title: "Wait for a process",
  description: `Wait until something happens, in one call instead of a polling loop. The first condition that holds ends the wait, and so does the exit; \`fired\` says which. At most 45s a call: on "timeout" call it again with \`from\` set to \`next\`.`,
  input: z.strictObject({
    process_id: processId,
    for: z
      .strictObject({
        exit: z.boolean().optional().describe("It exits. The default."),
        ...conditions,
        idle: duration.optional().describe('No output for this long, such as "2s".'),
        activity: z
          .enum(["busy", "sleeping", "listening", "waiting_line", "waiting_secret", "waiting_keys", "stopped"])
          .optional()
          .describe("What the kernel says it is doing."),
      })
      .optional(),
    timeout: duration.optional().describe('Default "30s", at most "45s".'),
    from: offset
      .optional()
      .describe("Where `match` begins to look and `output` begins; default: the start, so that nothing is missed."),
    max_output_bytes: maxOutput,
    model_intent: intent,
  }),
  output: result.waitResult,
  annotations: looks,
} as const satisfies ToolDefinition;

const processInput = {
  name: "process_input",
  title: "Type into a process",
  description: `Write to the stdin of a process started with \`tty\` or \`interactive\`, then return what it printed since. Enter is pressed after \`text\` unless \`press_enter\` is false (single keys). \`secret: true\` for passwords: the text appears in no result.`,
  input: z.strictObject({
    process_id: processId,
    text: z
      .string()
      .max(1 << 20)
      .optional(),
    press_enter: z.boolean().optional().describe("Default true when there is text."),
    close: z.boolean().optional().describe("Close stdin afterwards (end of file)."),
    secret: z.boolean().optional().describe("Never shown again."),
    wait_timeout: duration
      .optional()
      .describe('How long to wait for what follows; default "2s". Returns sooner when it exits or asks again.'),
    max_output_bytes: maxOutput,
    model_intent: intent,
  }),
  output: result.inputResult,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
} as const satisfies ToolDefinition;

const processList = {
  name: "process_list",
  title: "List processes",
  description:
    "Every running process of this chat, then the newest that exited, with the ports they listen on. Use it to find a forgotten id; never pkill by name.",
  input: z.strictObject({
    all: z.boolean().optional().describe("Also those that exited long ago."),
    label: z.string().max(200).optional().describe("Only those with this label."),
    cursor: z.string().max(200).optional().describe("`next` of the page before."),
  }),
  output: result.listResult,
  annotations: looks,
} as const satisfies ToolDefinition;

const processSignal = {
  name: "process_signal",
  title: "Send a signal",
  description: `Send a signal to a process and its group: "terminate", "kill", or a name such as "INT" or "HUP". To end a process and everything it started use process_stop.`,
  input: z.strictObject({
    process_id: processId,
    signal: z.string().min(1).max(32).describe('"terminate", "kill", or a signal name.'),
  }),
  output: result.signalResult,
  annotations: { ...ends, idempotentHint: false },
} as const satisfies ToolDefinition;

const processStop = {
  name: "process_stop",
  title: "Stop a process",
  description:
    "End a process and everything it started (TERM, then KILL after `grace`). Returns when nothing is left, with what was ended.",
  input: z.strictObject({
    process_id: processId,
    grace: duration.optional().describe('Between TERM and KILL; default "5s".'),
  }),
  output: result.stopResult,
  annotations: ends,
} as const satisfies ToolDefinition;

const processSearch = {
  name: "process_search",
  title: "Search output",
  description:
    "Lines of a process's whole output that match, with their byte offsets; also in the parts that were omitted. Cheaper than reading it.",
  input: z.strictObject({
    process_id: processId,
    query: z.string().min(1).max(4096).describe("Plain text, or a regular expression with `regex`."),
    regex: z.boolean().optional(),
    ignore_case: z.boolean().optional(),
    context: z.int().min(0).max(20).optional().describe("Lines before and after each match."),
    from: offset.optional().describe("First byte to search."),
    limit: z.int().min(1).max(1000).optional().describe("Most matches; default 50."),
    max_output_bytes: maxOutput,
  }),
  output: result.searchResult,
  annotations: looks,
} as const satisfies ToolDefinition;

/** The tools about processes. */
export const processTools = [
  execute,
  processOutput,
  processWait,
  processInput,
  processList,
  processSignal,
  processStop,
  processSearch,
] as const satisfies readonly ToolDefinition[];
