import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ignore } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import type { Client } from "../sdk/index.ts";
import type { Settings } from "./config.ts";
import { answers, readDaemonFile, socketOf, startDaemon } from "./daemon-process.ts";
import type { Output } from "./output.ts";

export interface ConnectOptions {
  /** Calls in the name of this chat. */
  chat?: string | undefined;
  /** False: only a daemon that runs already (`status`, `shutdown`). */
  spawn?: boolean;
}

/** A client of the daemon that the settings name, started first when there is none and that is allowed. */
export async function connectDaemon(
  settings: Settings,
  output: Output,
  version: string,
  o: ConnectOptions = {},
): Promise<Client> {
  const { createClient } = await import("../sdk/index.ts");
  const chat = o.chat === undefined ? {} : { chatId: o.chat };
  if (settings.url !== undefined) {
    const token = settings.token ?? ownToken(settings);
    return createClient({ url: settings.url, ...(token === undefined ? {} : { token }), ...chat });
  }
  if (await answers(settings.home)) noteOtherVersion(settings, output, version);
  else if (settings.maySpawn && o.spawn !== false) await startDaemon(settings);
  else throw notRunning(settings);
  return createClient({ socket: socketOf(settings.home), ...chat });
}

/** The token file of the home. It is sent only to the daemon of this home. */
export function readToken(home: string): string | undefined {
  try {
    return readFileSync(join(home, "token"), "utf8").trim();
  } catch (error) {
    ignore(error, "made by the first daemon");
    return undefined;
  }
}

function ownToken(settings: Settings): string | undefined {
  const own = readDaemonFile(settings.home)?.url;
  return own !== undefined && sameOrigin(own, settings.url) ? readToken(settings.home) : undefined;
}

function sameOrigin(a: string, b: string | undefined): boolean {
  return b !== undefined && URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}

function noteOtherVersion(settings: Settings, output: Output, version: string): void {
  const running = readDaemonFile(settings.home)?.version;
  if (running === undefined || running === version || output.json) return;
  output.note(
    `drover: the daemon is ${running}, this is ${version}; \`drover shutdown\` lets the next command start the new one (processes keep running).`,
  );
}

function notRunning(settings: Settings): Fault {
  const why = settings.insideProcess
    ? "This command runs inside a process of Drover, where none may be started: it would end with that process. Run `drover serve` outside."
    : "`drover serve` starts one; so does any command without --no-spawn.";
  return new Fault("daemon/not-running", `no daemon runs for ${settings.home}.`, { detail: why });
}
