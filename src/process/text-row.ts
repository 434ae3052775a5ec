/**
 * One line of the text view. Plain text that only grows stays a string (appending to one is cheap); the first change in its
 * middle turns it into cells, so that no sequence of edits costs more than the characters it writes.
 */
export class TextRow {
  #text = "";
  #cells: Uint16Array | undefined;
  #length = 0;
  #edited = false;

  get length(): number {
    return this.#length;
  }

  /** Puts text at a column that is not beyond the end; what was there is overwritten. */
  write(column: number, text: string): void {
    if (column === 0 && text.length >= this.#length) return this.#replace(text);
    if (column === this.#length && this.#cells === undefined) {
      this.#text += text;
      this.#length += text.length;
      return;
    }
    const cells = this.#toCells(column + text.length);
    for (let i = 0; i < text.length; i++) cells[column + i] = text.charCodeAt(i);
    this.#length = Math.max(this.#length, column + text.length);
  }

  /** Drops everything from a column on. */
  cut(column: number): void {
    if (column >= this.#length) return;
    this.#edited = true;
    if (column === 0) return this.#replace("");
    this.#toCells(0);
    this.#length = column;
  }

  /** Blanks for everything before a column that is not beyond the end. */
  blank(column: number): void {
    this.#toCells(0).fill(32, 0, column);
  }

  /** The line; where it was edited, without the blanks that only wiped something away. */
  toString(): string {
    const cells = this.#cells;
    const text = cells ? Buffer.from(cells.buffer, cells.byteOffset, this.#length * 2).toString("utf16le") : this.#text;
    if (!this.#edited && !cells) return text;
    // Overwriting half of a surrogate pair leaves the other half behind; encoding makes U+FFFD of it.
    const whole = /[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text;
    return trimEnd(whole);
  }

  #replace(text: string): void {
    if (this.#length > 0) this.#edited = true;
    this.#text = text;
    this.#length = text.length;
    this.#cells = undefined;
  }

  #toCells(room: number): Uint16Array {
    this.#edited = true;
    const old = this.#cells;
    if (old && old.length >= room) return old;
    const cells = new Uint16Array(Math.max(room, this.#length) * 2 + 16);
    if (old) cells.set(old.subarray(0, this.#length));
    else for (let i = 0; i < this.#length; i++) cells[i] = this.#text.charCodeAt(i);
    this.#text = "";
    this.#cells = cells;
    return cells;
  }
}

/** `trimEnd` for blanks only, and never quadratic. */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 32) end--;
  return end === text.length ? text : text.slice(0, end);
}
