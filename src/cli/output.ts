import { once } from "node:events";
import { writeSync } from "node:fs";
import { styleText } from "node:util";
import { ignore } from "../base/index.ts";

/** What a colour means. There is no other use of colour. */
export type Tone = "good" | "bad" | "warn" | "quiet";

const colours = { good: "green", bad: "red", warn: "yellow", quiet: "dim" } as const;

/** The one place that writes to stdout and stderr. */
export class Output {
  readonly json: boolean;

  constructor(json: boolean) {
    this.json = json;
    // A reader that went away (`drover logs x | head`) is no error; what would be written is simply not wanted.
    process.stdout.on("error", quietPipe);
    process.stderr.on("error", quietPipe);
  }

  get isTerminal(): boolean {
    return process.stdout.isTTY === true;
  }

  get errorIsTerminal(): boolean {
    return process.stderr.isTTY === true;
  }

  /** Columns of the terminal; without end when there is none, so that nothing is cut in a pipe. */
  get width(): number {
    return this.isTerminal ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  }

  get size(): { cols: number; rows: number } | undefined {
    return this.isTerminal ? { cols: process.stdout.columns || 80, rows: process.stdout.rows || 24 } : undefined;
  }

  line(text = ""): void {
    process.stdout.write(`${text}\n`);
  }

  /** A line for the person beside the data: on stderr, so that pipes stay clean. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** Goes to a new line after the `^C` that a terminal shows. */
  afterInterrupt(): void {
    if (this.errorIsTerminal) process.stderr.write("\n");
  }

  /** A hint that only a person at a terminal wants. */
  hint(text: string): void {
    if (this.errorIsTerminal && this.isTerminal && !this.json) this.note(paint(process.stderr, "quiet", text));
  }

  /** One JSON value: a line in a pipe, indented on a terminal. */
  value(value: unknown): void {
    this.line(JSON.stringify(value, undefined, this.isTerminal ? 2 : undefined));
  }

  /** One JSON value that is always a single line, for streams of them. */
  record(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** Bytes as they are; resolves when the reader keeps up again. */
  async bytes(data: Uint8Array): Promise<void> {
    if (data.length === 0 || process.stdout.destroyed) return;
    if (!process.stdout.write(data)) await Promise.race([once(process.stdout, "drain"), once(process.stdout, "close")]);
  }

  /** Resolves when everything is on its way. */
  async flush(): Promise<void> {
    const write = (stream: NodeJS.WriteStream) =>
      stream.destroyed || stream.writableLength === 0
        ? undefined
        : new Promise<void>((done) => stream.write("", () => done()));
    await Promise.all([write(process.stdout), write(process.stderr)]);
  }

  /** True once nobody reads stdout any more. */
  get isClosed(): boolean {
    return process.stdout.destroyed;
  }

  tone(tone: Tone, text: string): string {
    return paint(process.stdout, tone, text);
  }

  errorTone(tone: Tone, text: string): string {
    return paint(process.stderr, tone, text);
  }
}

/** Written at once, also from an exit handler, where streams no longer flush. */
export function writeTerminalNow(text: string): void {
  try {
    writeSync(1, text);
  } catch (error) {
    ignore(error, "the terminal is gone; there is nothing left to restore");
  }
}

function paint(stream: NodeJS.WriteStream, tone: Tone, text: string): string {
  // hasColors obeys NO_COLOR, FORCE_COLOR and TERM=dumb.
  if (!stream.isTTY || !stream.hasColors()) return text;
  return styleText(colours[tone], text, { validateStream: false });
}

function quietPipe(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "EIO") process.exit(process.exitCode ?? 0);
  throw error;
}
