import { setTimeout as sleep } from "node:timers/promises";
import { ignore } from "../base/index.ts";
import { type ExitFacts, Fault, type ProcessInfo, SCREEN_REPLAY_BYTES } from "../contract/index.ts";
import type { Attached, Client } from "../sdk/index.ts";
import type { Context } from "./command.ts";
import { Screen } from "./screen.ts";
import { type DetachKey, Terminal } from "./terminal.ts";
import { isGone } from "./waiting.ts";

/** A daemon that restarts is back by then; the person sees a still screen for as long. */
const BACK_MS = 10_000;

export interface AttachTo {
  info: ProcessInfo;
  readonly: boolean;
  detachKey: DetachKey;
  signal: AbortSignal;
}

/** How an attachment came to its end: the process exited, the person left, or the daemon did. */
export type AttachEnd = { how: "exited"; exit: ExitFacts } | { how: "detached" } | { how: "cut" };

/**
 * Joins the person's terminal to the process's until one of them ends, over a restart of the daemon too. The person's
 * terminal is put right on every way out.
 */
export async function attachTerminal({ output }: Context, client: Client, to: AttachTo): Promise<AttachEnd> {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, to.signal]);
  const screen = new Screen((data) => output.bytes(data), Math.max(0, to.info.log.end - SCREEN_REPLAY_BYTES));
  let current = await open(client, to, screen, signal);
  const terminal = new Terminal(() => screen.leave());
  terminal.take();
  const stops = [
    terminal.watchKeys((keys) => sendKeys(current, to, keys, () => left.abort())),
    terminal.watchSize(() => fitSize(current, to, output.size)),
  ];
  try {
    fitSize(current, to, output.size, screen.position > 0);
    for (;;) {
      const exit = await show(current, screen);
      if (signal.aborted) return { how: "detached" };
      if (exit) return { how: "exited", exit };
      const again = await openAgain(client, to, screen, signal);
      if (!again) return { how: signal.aborted ? "detached" : "cut" };
      current = again;
      fitSize(current, to, output.size);
    }
  } finally {
    for (const stop of stops) stop();
    current.close();
    terminal.close();
  }
}

function open(client: Client, to: AttachTo, screen: Screen, signal: AbortSignal): Promise<Attached> {
  screen.expectReplay();
  return client.processes.attach(to.info.id, { cursor: screen.position, readonly: to.readonly, signal });
}

async function openAgain(
  client: Client,
  to: AttachTo,
  screen: Screen,
  signal: AbortSignal,
): Promise<Attached | undefined> {
  const deadline = Date.now() + BACK_MS;
  while (Date.now() < deadline && !signal.aborted) {
    try {
      return await open(client, to, screen, signal);
    } catch (error) {
      if (!isGone(error) && !signal.aborted) throw error;
      await sleep(100);
    }
  }
  return undefined;
}

function sendKeys(attached: Attached, to: AttachTo, keys: Buffer | undefined, leave: () => void): void {
  if (keys === undefined) return;
  const at = to.detachKey.find(keys);
  const before = at < 0 ? keys : keys.subarray(0, at);
  if (before.length > 0 && !to.readonly) attached.write(before).catch(brokenOff);
  if (at >= 0) leave();
}

/**
 * The process gets our size. Where the replay does not begin at the first byte the size is moved by a row and back: full-screen
 * programs draw themselves anew when it changes (SIGWINCH), and only then.
 */
function fitSize(
  attached: Attached,
  to: AttachTo,
  size: { cols: number; rows: number } | undefined,
  isCut = false,
): void {
  if (to.readonly || !size) return;
  const heights = isCut ? [Math.max(1, size.rows - 1), size.rows] : [size.rows];
  for (const rows of heights) attached.resize(size.cols, rows).catch(brokenOff);
}

function brokenOff(error: unknown): void {
  ignore(error, "whoever reads the connection sees that it broke off, and what to do");
}

/** Shows until the process exits; undefined when the connection ended before. */
async function show(attached: Attached, screen: Screen): Promise<ExitFacts | undefined> {
  try {
    for await (const message of attached.output) {
      if (message instanceof Uint8Array) await screen.data(message);
      else if (message.type === "replay_end") await screen.live(message.cursor);
      else if (message.type === "error") throw new Fault(message.code, message.message, message);
      else if (message.type === "exit") {
        await screen.live();
        return message;
      }
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return undefined;
}
