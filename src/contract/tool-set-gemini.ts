import { z } from "zod";
import { clampBytes, fromMs, plainTools, present, readingCall } from "./tool-alias.ts";
import type { Alias } from "./tool-definition.ts";
import { listResult, processResult, waitResult } from "./tool-results.ts";

const looks = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
/** About what a line of a log holds. */
const LINE_BYTES = 120;

const runShellCommand: Alias = {
  name: "run_shell_command",
  title: "Run a command",
  description: `Run a bash command and return its output and exit code. Waits up to 45 s; then it runs on, and the result names the one call that waits for the rest: do not run it again. Servers and long builds: \`is_background: true\`, then process_wait for a port or a line of output. A trailing \`&\` does the same. Long output keeps its start and its end; \`omitted\` names the hole and the call that fetches it.`,
  input: z.strictObject({
    command: z.string().min(1),
    description: z.string().max(1000).optional().describe("What it does, in a few words."),
    dir_path: z.string().max(4096).optional().describe("Directory to run in."),
    is_background: z.boolean().optional(),
    tty: z.boolean().optional().describe("Give it a terminal, for prompts; answer with process_input."),
  }),
  output: waitResult,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  toCall: ({ command, description, dir_path, is_background, tty }) => ({
    tool: "execute",
    arguments: present({
      command,
      shell: "bash",
      timeout: "45s",
      model_intent: description,
      workdir: dir_path,
      run_in_background: is_background,
      tty,
    }),
  }),
  fromCall: () => undefined,
};

const readBackgroundOutput: Alias = {
  name: "read_background_output",
  title: "Read output",
  description:
    "Output and state of a background command, after up to `delay_ms` (default 0; it returns sooner when the command exits). To wait for something use process_wait, never a loop of this.",
  input: z.strictObject({
    pid: z.string().min(1).max(200).describe("`process_id` of run_shell_command."),
    lines: z.int().min(1).max(100_000).optional().describe("About how many lines; the end is always shown."),
    delay_ms: z.number().min(0).max(86_400_000).optional(),
    from: z.int().min(0).optional().describe("First byte to show; `next` of an earlier result shows only what is new."),
    to: z.int().min(0).optional().describe("Byte after the last one to show, for a hole listed in `omitted`."),
  }),
  output: processResult,
  annotations: looks,
  toCall: ({ pid, lines, delay_ms, from, to }) => ({
    tool: "process_output",
    arguments: present({
      process_id: pid,
      wait_timeout: fromMs(delay_ms) ?? "0s",
      max_output_bytes: typeof lines === "number" ? clampBytes(lines * LINE_BYTES) : undefined,
      from,
      to,
    }),
  }),
  fromCall: (call) => readingCall(call, "pid"),
};

const listBackgroundProcesses: Alias = {
  name: "list_background_processes",
  title: "List processes",
  description:
    "Every running process of this chat, then the newest that exited, with the ports they listen on. Never pkill by name.",
  input: z.strictObject({}),
  output: listResult,
  annotations: looks,
  toCall: () => ({ tool: "process_list", arguments: {} }),
  fromCall: (call) => (call.tool === "process_list" ? {} : undefined),
};

/** What Gemini CLI's models know, and what they have no word for. */
export const geminiTools: readonly Alias[] = [
  runShellCommand,
  readBackgroundOutput,
  listBackgroundProcesses,
  ...plainTools("process_wait", "process_input", "process_stop", "process_search"),
];
