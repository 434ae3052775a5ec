/** What a terminal shows. */
export interface Screen {
  text: string;
  cols: number;
  rows: number;
  cursor: { row: number; col: number };
}

/** Replays bytes on a terminal of this size. `isTerminal`: they came from one; pipes have no carriage return before a newline. */
export async function renderScreen(
  data: readonly Uint8Array[],
  o: { cols: number; rows: number; isTerminal: boolean },
): Promise<Screen> {
  // CommonJS, and a third of a megabyte: loaded when the first screen is asked for.
  const { default: xterm } = await import("@xterm/headless");
  const terminal = new xterm.Terminal({
    cols: o.cols,
    rows: o.rows,
    scrollback: 0,
    convertEol: !o.isTerminal,
    allowProposedApi: true,
    logLevel: "off",
  });
  try {
    // Writes are queued and handled in slices of milliseconds; the callback comes when all is on the screen.
    for (const piece of data) terminal.write(piece);
    await new Promise<void>((done) => terminal.write("", done));
    const buffer = terminal.buffer.active;
    const lines = Array.from({ length: o.rows }, (_, row) => {
      return buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? "";
    });
    while (lines.at(-1) === "") lines.pop();
    return {
      text: lines.join("\n"),
      cols: o.cols,
      rows: o.rows,
      cursor: { row: buffer.cursorY, col: buffer.cursorX },
    };
  } finally {
    terminal.dispose();
  }
}
