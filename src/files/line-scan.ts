export interface LineBounds {
  /** First line, from 1, and the last that is wanted. */
  readonly first: number;
  readonly last: number;
  readonly maxLineBytes: number;
  readonly maxLines: number;
  readonly maxBytes: number;
}

const CUT = " ... [truncated]";
const LINE_FEED = 10;

/** Numbers and counts the lines of a file that comes in chunks; holds no more of it than the bounds allow. */
export class LineScan {
  readonly #bounds: LineBounds;
  readonly #lines: string[] = [];
  #bytes = 0;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #lineBytes = 0;
  /** Something of the current line was seen. */
  #isOpen = false;
  /** Lines that ended. */
  total = 0;
  /** The first line that did not fit any more, and into what. */
  over: { line: number; what: "lines" | "bytes" } | undefined;

  constructor(bounds: LineBounds) {
    this.#bounds = bounds;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(LINE_FEED, at);
      this.#isOpen = true;
      if (this.#isWanted) this.#keep(chunk.subarray(at, end === -1 ? chunk.length : end));
      if (end === -1) return;
      this.#finishLine();
      at = end + 1;
    }
  }

  /** The last line may lack its line feed; behind a final line feed there is no further line. */
  end(): readonly string[] {
    if (this.#isOpen) this.#finishLine();
    return this.#lines;
  }

  get #isWanted(): boolean {
    const line = this.total + 1;
    return !this.over && line >= this.#bounds.first && line <= this.#bounds.last;
  }

  #keep(piece: Uint8Array): void {
    this.#lineBytes += piece.length;
    const room = this.#bounds.maxLineBytes - this.#keptBytes;
    // Copied, because the chunk would be held by its smallest piece.
    const copy = piece.slice(0, room);
    this.#kept.push(copy);
    this.#keptBytes += copy.length;
  }

  #finishLine(): void {
    if (this.#isWanted) this.#take(`${this.total + 1}\t${this.#text()}`);
    this.total++;
    this.#isOpen = false;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#lineBytes = 0;
  }

  #take(line: string): void {
    const { maxLines, maxBytes } = this.#bounds;
    const bytes = Buffer.byteLength(line) + (this.#lines.length > 0 ? 1 : 0);
    if (this.#lines.length >= maxLines) this.over = { line: this.total + 1, what: "lines" };
    else if (this.#bytes + bytes > maxBytes) this.over = { line: this.total + 1, what: "bytes" };
    else {
      this.#lines.push(line);
      this.#bytes += bytes;
      return;
    }
    this.#lines.length = 0;
  }

  #text(): string {
    const isCut = this.#lineBytes > this.#keptBytes;
    // In a stream the decoder holds back a character that is not whole: the cut falls on a border.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const text = decoder.decode(Buffer.concat(this.#kept), { stream: isCut });
    return isCut ? text + CUT : text;
  }
}
