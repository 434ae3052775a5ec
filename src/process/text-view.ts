// What a person would read: escapes dropped, carriage returns, backspaces, erasures and upward moves applied, repeats folded.
//
// Not a terminal emulator (screen-view.ts has one): lines have no width, and only the last ROWS lines can still change, which is
// what progress bars need. One pass; all work is bounded by the input's length, whatever the input is.
import { readEscape } from "./escape.ts";
import { TextRow } from "./text-row.ts";

/** Lines that a cursor can go back to; bars of more lines than this are rare. */
const ROWS = 64;
/** Fewer identical lines than this are shown as they are. */
const FOLD = 4;
/** Blanks that moves may make beyond the input's own length, so that `CSI 9999C` cannot make megabytes of a few bytes. */
const FREE_BLANKS = 65_536;

/** The text view of a decoded part of a log. Holds no control but newline and tab. */
export function renderText(text: string): string {
  return new TextView(text.length).render(text);
}

class TextView {
  readonly #folder = new LineFolder();
  #rows: (TextRow | string)[] = [""];
  #row = 0;
  #column = 0;
  #budget: number;

  constructor(length: number) {
    this.#budget = length + FREE_BLANKS;
  }

  render(text: string): string {
    // oxlint-disable-next-line no-control-regex -- controls are what this is about
    const control = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;
    for (let at = 0; at < text.length; ) {
      control.lastIndex = at;
      const stop = control.exec(text)?.index ?? text.length;
      if (stop > at) this.#write(text.slice(at, stop));
      at = this.#control(text, stop);
    }
    for (const row of this.#rows.slice(0, -1)) this.#folder.push(String(row));
    return this.#folder.end(String(this.#rows.at(-1)));
  }

  #write(text: string): void {
    const held = this.#rows[this.#row];
    if (held === "" && this.#column === 0) {
      this.#rows[this.#row] = text;
    } else {
      const row = this.#edit();
      this.#pad(row);
      row.write(this.#column, text);
    }
    this.#column += text.length;
  }

  /** A move beyond the end becomes blanks only when something is written there, and only within the budget. */
  #pad(row: TextRow): void {
    const blanks = this.#column - row.length;
    if (blanks <= 0) return;
    if (this.#spend(blanks)) row.write(row.length, " ".repeat(blanks));
    else this.#column = row.length;
  }

  #spend(work: number): boolean {
    if (work > this.#budget) return false;
    this.#budget -= work;
    return true;
  }

  #edit(): TextRow {
    const held = this.#rows[this.#row];
    if (held instanceof TextRow) return held;
    const row = new TextRow();
    if (held) row.write(0, held);
    this.#rows[this.#row] = row;
    return row;
  }

  #newline(): void {
    this.#column = 0;
    this.#row++;
    if (this.#row < this.#rows.length) return;
    this.#rows.push("");
    if (this.#rows.length <= ROWS * 2) return;
    // Half of the held lines are let go at once: shifting one by one would cost a move of all of them per line.
    for (const row of this.#rows.splice(0, ROWS)) this.#folder.push(String(row));
    this.#row -= ROWS;
  }

  #control(text: string, at: number): number {
    const code = text.charCodeAt(at);
    if (code === 0x0a) this.#newline();
    else if (code === 0x0d) this.#column = 0;
    else if (code === 0x08) this.#column = Math.max(0, this.#column - 1);
    else if (code === 0x1b || code >= 0x80) {
      const escape = readEscape(text, at);
      if (escape.final !== "") this.#obey(escape.final, escape.first);
      return escape.end;
    }
    return at + 1;
  }

  #obey(final: string, first: number): void {
    const count = Math.max(1, first);
    switch (final) {
      case "A":
      case "RI":
        return this.#up(count);
      case "F":
        this.#column = 0;
        return this.#up(count);
      case "B":
      case "E":
        if (final === "E") this.#column = 0;
        this.#row = Math.min(this.#rows.length - 1, this.#row + count);
        return;
      case "C":
        this.#column += count;
        return;
      case "D":
        this.#column = Math.max(0, this.#column - count);
        return;
      case "G":
      case "`":
        this.#column = count - 1;
        return;
      case "K":
        return this.#eraseLine(Math.max(0, first));
      case "J":
        return this.#eraseBelow(Math.max(0, first));
      case "H":
      case "f":
        return this.#newFrame();
      default:
        return;
    }
  }

  #up(count: number): void {
    this.#row = Math.max(0, this.#rows.length - ROWS, this.#row - count);
  }

  #eraseLine(mode: number): void {
    if (mode === 2) this.#rows[this.#row] = "";
    else if (mode === 0) {
      if (this.#column === 0) this.#rows[this.#row] = "";
      else if (this.#rows[this.#row] !== "") this.#edit().cut(this.#column);
    } else if (mode === 1) {
      const row = this.#edit();
      const end = Math.min(this.#column + 1, row.length);
      if (this.#spend(end)) row.blank(end);
    }
  }

  #eraseBelow(mode: number): void {
    if (mode !== 0) return;
    this.#eraseLine(0);
    this.#rows.length = this.#row + 1;
  }

  /** Absolute positions mean a program that paints screens: each is shown below what was there. */
  #newFrame(): void {
    this.#row = this.#rows.length - 1;
    if (String(this.#rows[this.#row]) !== "") this.#newline();
    this.#column = 0;
  }
}

/** Folds runs of the same line. */
class LineFolder {
  readonly #out: string[] = [];
  #last: string | undefined;
  #count = 0;

  push(line: string): void {
    if (line === this.#last) {
      this.#count++;
      return;
    }
    this.#flush();
    this.#last = line;
    this.#count = 1;
  }

  /** `rest` has no newline of its own; an empty one means that the text ended with one. */
  end(rest: string): string {
    if (rest !== "" && rest === this.#last && this.#count + 1 >= FOLD) {
      this.#count++;
      this.#flush();
      return this.#out.join("\n");
    }
    this.#flush();
    this.#out.push(rest);
    return this.#out.join("\n");
  }

  #flush(): void {
    if (this.#last === undefined) return;
    if (this.#count >= FOLD) this.#out.push(this.#last, `... [repeated ${this.#count - 1} times]`);
    else for (let i = 0; i < this.#count; i++) this.#out.push(this.#last);
  }
}
