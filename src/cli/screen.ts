import { TerminalModes, withoutQuestions } from "./terminal-modes.ts";

/** The process's screen on ours. A replay is held back until it is whole: the questions in it were answered long ago. */
export class Screen {
  readonly #write: (data: Uint8Array) => Promise<void>;
  readonly #modes = new TerminalModes();
  #replay: Uint8Array[] | undefined;
  #position: number;
  #isAtLineStart = true;

  /** `position` is the byte of the log where showing begins. */
  constructor(write: (data: Uint8Array) => Promise<void>, position: number) {
    this.#write = write;
    this.#position = position;
  }

  /** The byte of the log that comes next. */
  get position(): number {
    return this.#position;
  }

  expectReplay(): void {
    this.#replay = [];
  }

  async data(data: Uint8Array): Promise<void> {
    this.#position += data.length;
    if (this.#replay) this.#replay.push(data);
    else await this.#show(data);
  }

  /** The replay is over: show it, then everything as it comes. */
  async live(position = this.#position): Promise<void> {
    const replay = this.#replay;
    this.#replay = undefined;
    this.#position = position;
    if (replay) await this.#show(withoutQuestions(Buffer.concat(replay)));
  }

  /** What to write when we stop showing it. */
  leave(): string {
    const newLine = this.#isAtLineStart || this.#modes.isFullScreen ? "" : "\r\n";
    return `${this.#modes.restore()}${newLine}`;
  }

  async #show(data: Uint8Array): Promise<void> {
    if (data.length === 0) return;
    this.#modes.read(data);
    this.#isAtLineStart = data.at(-1) === 0x0a;
    await this.#write(data);
  }
}
