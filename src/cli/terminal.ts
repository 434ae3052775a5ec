import { InvalidArgumentError } from "commander";
import { writeTerminalNow } from "./output.ts";

/** The keyboard and screen of the person, taken over for a while. */
export class Terminal {
  readonly #stdin = process.stdin;
  readonly #restoreScreen: () => string;
  #isTaken = false;
  readonly #giveBack = () => this.close();

  /** `restoreScreen` says what to write when the terminal is given back. */
  constructor(restoreScreen: () => string) {
    this.#restoreScreen = restoreScreen;
  }

  /** Keys arrive one by one and uninterpreted from here on. Given back on every way out, an uncaught error included. */
  take(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    if (this.#stdin.isTTY) this.#stdin.setRawMode(true);
    process.on("exit", this.#giveBack);
  }

  /** Calls at every change of the window's size; returns a stop function. */
  watchSize(onSize: (cols: number, rows: number) => void): () => void {
    const tell = () => onSize(process.stdout.columns, process.stdout.rows);
    process.stdout.on("resize", tell);
    return () => process.stdout.off("resize", tell);
  }

  /** Calls with every piece of input, then once with undefined at its end; returns a stop function. */
  watchKeys(onKeys: (data: Buffer | undefined) => void): () => void {
    const data = (piece: Buffer) => onKeys(piece);
    const end = () => onKeys(undefined);
    this.#stdin.on("data", data);
    this.#stdin.once("end", end);
    this.#stdin.resume();
    return () => {
      this.#stdin.off("data", data);
      this.#stdin.off("end", end);
      this.#stdin.pause();
    };
  }

  close(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    process.off("exit", this.#giveBack);
    writeTerminalNow(this.#restoreScreen());
    if (this.#stdin.isTTY) this.#stdin.setRawMode(false);
  }
}

/** One key held with Ctrl, as terminals send it. */
export interface DetachKey {
  readonly name: string;
  /** Position of the key in a piece of input, or -1. */
  find(data: Uint8Array): number;
}

/** `ctrl-]`, `ctrl-a`, `ctrl-\`: any key that has a control code; `none` for no key at all. */
export function parseDetachKey(text: string): DetachKey {
  if (text === "none") return { name: "none", find: () => -1 };
  const key = /^(?:ctrl-|\^|c-)([a-z[\]\\^_@])$/i.exec(text)?.[1]?.toLowerCase();
  if (!key) throw new InvalidArgumentError("Write a key as ctrl-] or ctrl-a, or none.");
  const code = key.toUpperCase().charCodeAt(0) & 0x1f;
  // Programs may ask for keys in a longer form: xterm's modifyOtherKeys, and kitty's keyboard protocol.
  const forms = [`\x1b[27;5;${key.charCodeAt(0)}~`, `\x1b[${key.charCodeAt(0)};5u`].map((form) => Buffer.from(form));
  return {
    name: `ctrl-${key}`,
    find(data) {
      const buffer = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      const places = [buffer.indexOf(code), ...forms.map((form) => buffer.indexOf(form))].filter((at) => at >= 0);
      return places.length > 0 ? Math.min(...places) : -1;
    },
  };
}
