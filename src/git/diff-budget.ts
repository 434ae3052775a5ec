/** Bytes of JSON for the text of one repository's diff. With files and names a frame stays below 4 MiB, what clients read at most. */
const DIFF_JSON_BYTES = 3 << 20;

/** The text of a diff within its bound: each file's part is in it whole or not at all. */
export class DiffBudget {
  readonly #parts: string[] = [];
  readonly #omitted: string[] = [];
  #room: number;

  constructor(bytes = DIFF_JSON_BYTES) {
    this.#room = bytes;
  }

  get room(): number {
    return this.#room;
  }

  /** Whether it was taken; the path of one that does not fit is kept. */
  take(path: string, text: string, bytes = jsonBytes(text)): boolean {
    if (bytes > this.#room) {
      this.#omitted.push(path);
      return false;
    }
    this.#room -= bytes;
    this.#parts.push(text);
    return true;
  }

  omit(path: string): void {
    this.#omitted.push(path);
  }

  text(): string {
    return this.#parts.join("");
  }

  /** Paths of what was left out, as many as fit. */
  omitted(mostBytes: number): string[] {
    let room = mostBytes;
    const end = this.#omitted.findIndex((path) => (room -= jsonBytes(path) + 3) < 0);
    return end === -1 ? this.#omitted : this.#omitted.slice(0, end);
  }
}

/** As a frame counts it: a quote or a line's end takes two bytes, a control character six. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
