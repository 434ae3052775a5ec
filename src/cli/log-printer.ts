import type { Output } from "./output.ts";
import { formatSize } from "./size.ts";
import { TerminalModes } from "./terminal-modes.ts";

/** Bytes of a process on their way to stdout. A terminal is left as it was found. */
export class LogPrinter {
  readonly #output: Output;
  readonly #modes = new TerminalModes();
  #dropped = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  async bytes(data: Uint8Array): Promise<void> {
    if (this.#output.isTerminal) this.#modes.read(data);
    await this.#output.bytes(data);
  }

  /** Says once about each range that it is no longer there. */
  dropped(from: number, to: number): void {
    if (to <= this.#dropped) return;
    const begin = Math.max(from, this.#dropped);
    this.#dropped = to;
    this.#output.note(`drover: bytes ${begin} to ${to} (${formatSize(to - begin)}) are no longer kept`);
  }

  async close(): Promise<void> {
    if (this.#output.isTerminal) await this.#output.bytes(Buffer.from(this.#modes.restore()));
  }
}
