import { z } from "zod";
import { bytesOfTokens, fromMs, plainTools, present } from "./tool-alias.ts";
import type { Alias } from "./tool-definition.ts";
import { inputResult, waitResult } from "./tool-results.ts";

const runs = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
const yieldTime = z.number().min(0).max(86_400_000).optional();
const maxTokens = z.number().min(1).max(1_000_000).optional().describe("Most tokens of output.");

const execCommand: Alias = {
  name: "exec_command",
  title: "Run a command",
  description: `Run a bash command. Returns its output, or, when it still runs after \`yield_time_ms\` (default 10000, at most 45000), \`running: true\` and a \`process_id\`: pass that as \`session_id\` to write_stdin. It is never killed for taking long: do not run it again. A trailing \`&\` starts it in the background. Servers: start, then process_wait for the port. Long output keeps its start and its end; \`omitted\` names the hole and the call that fetches it.`,
  input: z.strictObject({
    cmd: z.string().min(1).describe("Shell text."),
    workdir: z.string().max(4096).optional(),
    shell: z.string().max(4096).optional().describe("Default bash."),
    login: z.boolean().optional().describe("Read the login profile first."),
    tty: z.boolean().optional().describe("Give it a terminal; without one stdin is empty."),
    yield_time_ms: yieldTime.describe("How long to wait for it."),
    max_output_tokens: maxTokens,
    justification: z.string().max(1000).optional().describe("What this is for."),
  }),
  output: waitResult,
  annotations: runs,
  toCall: ({ cmd, workdir, shell, login, tty, yield_time_ms, max_output_tokens, justification }) => ({
    tool: "execute",
    arguments: present({
      command: cmd,
      workdir,
      shell: shell ?? "bash",
      login,
      tty,
      timeout: fromMs(yield_time_ms) ?? "10s",
      max_output_bytes: bytesOfTokens(max_output_tokens),
      model_intent: justification,
    }),
  }),
  fromCall: () => undefined,
};

const writeStdin: Alias = {
  name: "write_stdin",
  title: "Type into a command, or read on",
  description:
    "Write `chars` to a command started with `tty` (nothing is added: send \\n yourself) and return what it printed since. With empty `chars`: wait up to `yield_time_ms` for the exit and read the output, from byte `from` on when given.",
  input: z.strictObject({
    session_id: z.string().min(1).max(200).describe("`process_id` of exec_command."),
    chars: z
      .string()
      .max(1 << 20)
      .optional(),
    yield_time_ms: yieldTime,
    max_output_tokens: maxTokens,
    from: z.int().min(0).optional().describe("First byte to show; `next` of an earlier result shows only what is new."),
    to: z.int().min(0).optional().describe("Byte after the last one to show, for a hole listed in `omitted`."),
  }),
  output: inputResult,
  annotations: runs,
  toCall: ({ session_id, chars, yield_time_ms, max_output_tokens, from, to }) => {
    const common = {
      process_id: session_id,
      wait_timeout: fromMs(yield_time_ms),
      max_output_bytes: bytesOfTokens(max_output_tokens),
    };
    return chars
      ? { tool: "process_input", arguments: present({ ...common, text: chars, press_enter: false }) }
      : { tool: "process_output", arguments: present({ ...common, from, to }) };
  },
  fromCall({ tool, arguments: given }) {
    const { process_id, from, to, text } = given;
    if (tool === "process_output") return present({ session_id: process_id, chars: "", from, to });
    if (tool === "process_input")
      return { session_id: process_id, chars: typeof text === "string" ? `${text}\n` : "\n" };
    return undefined;
  },
};

/** What Codex's models know, and what they have no word for. */
export const codexTools: readonly Alias[] = [
  execCommand,
  writeStdin,
  ...plainTools("process_wait", "process_list", "process_stop", "process_search"),
];
