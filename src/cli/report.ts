import { CommanderError } from "commander";
import { Fault, type FaultCode } from "../contract/index.ts";
import type { Output } from "./output.ts";

/** A wait ran out of time; the number that `timeout(1)` uses. */
export const EXIT_TIMEOUT = 124;
/** Drover failed, or what became of the process is not known; told apart from any code of the process. */
export const EXIT_DROVER = 125;

/** What to do next, where the fault itself does not say. */
const advice: Partial<Record<FaultCode, string>> = {
  "auth/required": "Set DROVER_TOKEN; `drover token` prints it on the daemon's machine.",
  "auth/wrong-token": "Set DROVER_TOKEN; `drover token` prints it on the daemon's machine.",
  "auth/expired": "Set DROVER_TOKEN to a new one; `drover token create` makes it on the daemon's machine.",
  "token/not-found": "`drover token ls` lists them.",
  "process/not-found": "`drover ps -a` lists every process that is kept.",
  "process/no-stdin": "Start it with `--interactive` or `--tty` to write to it later.",
  "process/no-terminal": "Start it with `--tty` to give it a terminal.",
  "process/stop-incomplete": "What is left is not ours to end; see the reason of each.",
  "client/unreachable": "`drover status` says whether a daemon runs; `drover doctor` looks for the reason.",
  "native/missing": "Run `make` in the repository.",
};

/**
 * Every failure becomes a message and an exit code here and nowhere else.
 * With `asProcess` the exit codes belong to the process that is waited for, so all of ours become 125.
 */
export function report(error: unknown, output: Output, asProcess = false): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const fault = error instanceof Fault ? error : error instanceof CommanderError ? toUsage(error) : toBug(error);
  if (output.json) output.note(JSON.stringify(toBody(fault)));
  else for (const line of describe(fault)) output.note(line);
  return asProcess ? exitAsProcess(fault) : fault.facts.exit;
}

/** `drover: message`, then indented lines of what is known and what to do. */
export function describe(fault: Fault): string[] {
  const lines = [`drover: ${fault.message.charAt(0).toUpperCase()}${fault.message.slice(1)}`];
  const add = (text: string) =>
    lines.push(
      ...text
        .trimEnd()
        .split("\n")
        .map((line) => `  ${line}`),
    );
  if (fault.detail && !fault.message.includes(fault.detail)) add(fault.detail);
  // Faults of the process family name the value in their message already.
  const fields = fault.code.startsWith("process/") ? [] : (fault.validations ?? []);
  for (const { field, detail } of fields) add(`${field}: ${detail}`);
  for (const left of leftOf(fault)) add(left);
  const next = advice[fault.code];
  if (next) add(next);
  return lines;
}

function leftOf(fault: Fault): string[] {
  const left = fault.data?.["left"];
  if (!Array.isArray(left)) return [];
  return left.map(
    (p: { pid?: number; command?: string; why?: string }) => `pid ${p.pid} ${p.command ?? ""}: ${p.why ?? "unknown"}`,
  );
}

/** 126 and 127 mean the same for a shell as for us: the command never ran. */
function exitAsProcess(fault: Fault): number {
  return fault.facts.exit === 126 || fault.facts.exit === 127 ? fault.facts.exit : EXIT_DROVER;
}

/** Commander writes `error: what` and a suggestion on a line of its own. */
function toUsage(error: CommanderError): Fault {
  const [what = "", ...more] = error.message.replace(/^error: /, "").split("\n");
  return new Fault("request/invalid", what, {
    detail: more.join("\n").replace(/^\((.*)\)$/, "$1") || "`--help` behind any command shows how it is used.",
  });
}

function toBug(error: unknown): Fault {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const detail = `${stack}\nThis is a defect in Drover. Please report it with these lines.`;
  return new Fault("internal/bug", "something went wrong that should not.", { detail, cause: error });
}

function toBody(fault: Fault): object {
  const { message, code, detail, validations, data } = fault;
  return { message, code, detail, validations, data };
}
