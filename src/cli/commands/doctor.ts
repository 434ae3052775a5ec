import type { Command } from "commander";
import { Fault } from "../../contract/index.ts";
import type { Act, Context } from "../command.ts";
import type { Check } from "../machine-checks.ts";
import type { Output } from "../output.ts";

const tones = { ok: "good", warn: "warn", fail: "bad" } as const;

export function addDoctor(program: Command, act: Act): void {
  program
    .command("doctor")
    .summary("look for what may go wrong here")
    .description(
      "Check this machine and the home, and say what to do. Starts nothing. Exits with 1 when something fails.",
    )
    .action(act(doctor));
}

async function doctor(context: Context): Promise<number> {
  const { settings, output } = context;
  const { checkMachine } = await import("../machine-checks.ts");
  const { checkHome } = await import("../home-checks.ts");
  const { checkGit } = await import("../git-checks.ts");
  const machine = [...checkMachine(settings.path), ...checkGit(settings.path)];
  const checks = [...machine, ...checkHome(settings.home), ...(await checkDaemon(context))];
  if (output.json) output.value({ checks });
  else for (const check of checks) show(check, Math.max(...checks.map((c) => c.name.length)), output);
  return checks.some((check) => check.state === "fail") ? 1 : 0;
}

function show(check: Check, wide: number, output: Output): void {
  output.line(`${output.tone(tones[check.state], check.state.padEnd(4))}  ${check.name.padEnd(wide)}  ${check.found}`);
  if (check.advice) output.line(`${" ".repeat(wide + 8)}${check.advice}`);
}

/** None running is fine; one that does not answer, or is of another version, is worth a word. */
async function checkDaemon({ settings, version, connect }: Context): Promise<Check[]> {
  const name = "daemon";
  try {
    const client = await connect({ spawn: false });
    const status = await client.status();
    const { checkGitWatch } = await import("../git-checks.ts");
    const found = `${status.version}, pid ${status.pid}, ${status.url}`;
    const advice = `This is ${version}. \`drover shutdown\` ends the old daemon; processes keep running.`;
    const isSame = status.version === version;
    return [
      isSame ? { name, state: "ok", found } : { name, state: "warn", found, advice },
      ...checkGitWatch(status.git),
    ];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code === "daemon/not-running") return [await notRunning(settings.home)];
    return [{ name, state: "fail", found: error.message, advice: error.detail ?? error.facts.doc }];
  }
}

async function notRunning(home: string): Promise<Check> {
  const { readDaemonFile } = await import("../daemon-process.ts");
  const left = readDaemonFile(home);
  const found = left ? `not running (the last was pid ${left.pid})` : "not running";
  return { name: "daemon", state: "ok", found: `${found}; commands start one` };
}
