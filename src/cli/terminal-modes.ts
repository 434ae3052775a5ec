/**
 * Remembers which terminal modes a process has switched on, so that they can be switched off when we stop showing it:
 * a detached editor must not leave the person in the alternate screen, without a cursor, or with mouse reports.
 */
export class TerminalModes {
  readonly #on = new Set<string>();
  #hiddenCursor = false;
  #keypad = false;
  #keyboard = 0;
  #otherKeys = false;
  #rest = "";

  /** Reads output on its way to the terminal. Sequences may be cut anywhere. */
  read(data: Uint8Array): void {
    const text = this.#rest + Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("latin1");
    // oxlint-disable-next-line no-control-regex
    for (const [sequence] of text.matchAll(/\x1b(?:\[[?><]?[\d;]*[hlum]|[=>c])/g)) this.#apply(sequence);
    // oxlint-disable-next-line no-control-regex
    this.#rest = /\x1b(?:\[[?><]?[\d;]{0,32})?$/.exec(text)?.[0] ?? "";
  }

  /** What undoes everything that is still on; also plain attributes and the default character set. */
  restore(): string {
    const off = [...this.#on].reverse().map((mode) => `\x1b[?${mode}l`);
    const keys = `${this.#keyboard > 0 ? `\x1b[<${this.#keyboard}u` : ""}${this.#otherKeys ? "\x1b[>4m" : ""}`;
    const cursor = this.#hiddenCursor ? "\x1b[?25h" : "";
    const keypad = this.#keypad ? "\x1b>" : "";
    this.#forget();
    return `${keys}${off.join("")}${cursor}${keypad}\x1b[0m\x1b(B`;
  }

  /** Whether the alternate screen is shown. */
  get isFullScreen(): boolean {
    return ["1049", "1047", "47"].some((mode) => this.#on.has(mode));
  }

  #apply(sequence: string): void {
    const kind = sequence.slice(1);
    if (kind === "c") return this.#forget();
    if (kind === "=" || kind === ">") this.#keypad = kind === "=";
    else if (kind.startsWith("[?")) this.#setPrivate(kind.slice(2, -1), kind.at(-1) ?? "");
    else if (kind.startsWith("[>4") && kind.endsWith("m")) this.#otherKeys = /;[12]m$/.test(kind);
    else if (kind.startsWith("[>") && kind.endsWith("u")) this.#keyboard += 1;
    else if (kind.startsWith("[<") && kind.endsWith("u"))
      this.#keyboard = Math.max(0, this.#keyboard - (Number(kind.slice(2, -1)) || 1));
  }

  #setPrivate(modes: string, action: string): void {
    if (action !== "h" && action !== "l") return;
    for (const mode of modes.split(";")) {
      if (mode === "25") this.#hiddenCursor = action === "l";
      // Autowrap (7) and blinking (12) are on, or a matter of taste, to begin with.
      else if (mode !== "7" && mode !== "12" && mode !== "") {
        if (action === "h") this.#on.add(mode);
        else this.#on.delete(mode);
      }
    }
  }

  #forget(): void {
    this.#on.clear();
    this.#hiddenCursor = false;
    this.#keypad = false;
    this.#keyboard = 0;
    this.#otherKeys = false;
  }
}

/**
 * Takes questions to the terminal out of output that is shown again: the answers would arrive as keys that nobody pressed.
 * Device attributes, status and cursor reports, mode and version requests, window reports, colour and capability queries
 * (xterm's "Control Sequences").
 */
export function withoutQuestions(data: Uint8Array): Buffer {
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("latin1");
  const asked = new RegExp(
    [
      String.raw`\x1b\[[>=]?\d*c`,
      String.raw`\x1b\[\??[56]n`,
      String.raw`\x1b\[\??[\d;]*\$p`,
      String.raw`\x1b\[>\d*q`,
      String.raw`\x1b\[\?u`,
      String.raw`\x1b\[\?4m`,
      String.raw`\x1b\[(?:1[13-9]|2[01])t`,
      String.raw`\x1b\](?:4;\d+|1\d);\?(?:\x07|\x1b\\)`,
      String.raw`\x1bP(?:\+q|\$q)[^\x1b]*\x1b\\`,
      String.raw`\x1b_G[^\x1b]*\ba=q[^\x1b]*\x1b\\`,
      String.raw`\x1bZ`,
      String.raw`\x05`,
    ].join("|"),
    "g",
  );
  return Buffer.from(text.replace(asked, ""), "latin1");
}
