import type { Command } from "commander";
import { type Act, type Context } from "../command.ts";
import { formatDuration } from "../duration.ts";
import { formatSize } from "../size.ts";

export function addStatus(program: Command, act: Act): void {
  program
    .command("status")
    .summary("what the daemon says of itself")
    .description("Show the daemon: version, address, counts. Starts none; exits with 4 when none runs.")
    .action(act(status));
}

async function status({ output, connect }: Context): Promise<void> {
  const client = await connect({ spawn: false });
  const s = await client.status();
  if (output.json) return output.value(s);
  const counts = [
    `${s.running} running`,
    `${s.exited} ended`,
    ...(s.lost > 0 ? [output.tone("bad", `${s.lost} lost`)] : []),
    ...(s.quarantined > 0 ? [output.tone("warn", `${s.quarantined} quarantined`)] : []),
  ];
  const rows = [
    ["daemon", `${s.version}, pid ${s.pid}, up ${formatDuration(Date.now() - Date.parse(s.started_at))}`],
    ["url", s.url],
    ["socket", s.socket],
    ["home", s.home],
    ["machine", `${s.machine_name} (${s.machine_id.slice(0, 8)})`],
    ["processes", counts.join(", ")],
    ["logs", formatSize(s.log_bytes)],
    ["memory", formatSize(s.rss_bytes)],
  ] as const;
  for (const [name, value] of rows) output.line(`${name.padEnd(11)}${value}`);
}
