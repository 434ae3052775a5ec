import type { Command } from "commander";
import { LIST_PAGE, type ListAnswer, type ProcessSummary } from "../../contract/index.ts";
import type { Client } from "../../sdk/index.ts";
import type { Act } from "../command.ts";
import { formatDuration } from "../duration.ts";
import { shortId } from "../ids.ts";
import type { Output } from "../output.ts";
import { describeState, stateTone } from "../state.ts";
import { type Column, formatTable } from "../table.ts";

interface PsOptions {
  all?: boolean;
  chat?: string;
  label?: string;
  quiet?: boolean;
}

export function addPs(program: Command, act: Act): void {
  program
    .command("ps")
    .summary("list processes")
    .description("List what runs and what ended lately.")
    .option("-a, --all", "every process that is kept, however old")
    .option("--chat <id>", "only those of this chat")
    .option("--label <label>", "only those with this label")
    .option("-q, --quiet", "only full ids, one a line")
    .action(
      act(async ({ output, connect }, options: PsOptions) => {
        const client = await connect({ chat: options.chat });
        const answer = await listProcesses(client, options);
        if (output.json) output.value(answer);
        else if (options.quiet) for (const p of answer.processes) output.line(p.id);
        else await show(answer, output);
      }),
    );
}

/** Every page when all are asked for; else what the daemon thinks is of interest. */
async function listProcesses(client: Client, o: PsOptions): Promise<ListAnswer> {
  const query = {
    ...(o.label === undefined ? {} : { label: o.label }),
    ...(o.all ? { all: true, limit: LIST_PAGE } : {}),
  };
  const first = await client.processes.list(query);
  const processes = [...first.processes];
  let next = o.all ? first.next : undefined;
  while (next !== undefined) {
    const page = await client.processes.list({ ...query, cursor: next });
    processes.push(...page.processes);
    next = page.next;
  }
  return { processes, ...(first.hidden && !o.all ? { hidden: first.hidden } : {}) };
}

async function show({ processes, hidden }: ListAnswer, output: Output): Promise<void> {
  const more = hidden ? `${hidden} more that ended: drover ps -a` : undefined;
  if (processes.length === 0) {
    output.hint(more ?? "Nothing runs. Start something: drover start -- npm run dev");
    return;
  }
  for (const line of await formatTable(columns(output), processes, output.width)) output.line(line);
  if (more) output.hint(more);
}

function columns(output: Output): Column<ProcessSummary>[] {
  const now = Date.now();
  return [
    { title: "ID", text: (p) => shortId(p.id) },
    {
      title: "STATE",
      text: describeState,
      style: (text, p) => {
        const tone = stateTone(p);
        return tone ? output.tone(tone, text) : text;
      },
    },
    { title: "AGE", text: (p) => formatDuration(now - Date.parse(p.started_at)), right: true },
    { title: "LABEL", text: (p) => p.label ?? "" },
    { title: "COMMAND", text: (p) => p.command },
  ];
}
