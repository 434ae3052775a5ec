import type { ExitFacts } from "../contract/index.ts";
import type { Client } from "../sdk/index.ts";
import type { Context } from "./command.ts";
import { LogPrinter } from "./log-printer.ts";
import { type LogRange, readLog, toBytes } from "./log-reading.ts";

/** A line that does not end is shown anyway after this much. */
const LINE_BYTES = 64 << 10;

export interface Following extends LogRange {
  /** Stop at the exit of the command itself; else when nothing that it left behind can write any more. */
  untilExit?: boolean;
}

/** Prints from `from` on and goes on as the process writes; tells how it exited. */
export async function followLog(context: Context, client: Client, range: Following): Promise<ExitFacts | undefined> {
  const from = range.lines === undefined ? range.from : await readLog(context, client, range);
  const printer = new LogPrinter(context.output);
  const show = range.view === "text" ? textShower(client, range, printer, from) : rawShower(range, printer);
  let exit: ExitFacts | undefined;
  try {
    for await (const item of client.processes.follow(range.id, { from, signal: range.signal })) {
      if (context.output.isClosed || (exit && range.untilExit)) break;
      if (item.type === "exit") exit = item;
      else if (item.type === "dropped") printer.dropped(item.from, item.to);
      else if (context.output.json)
        context.output.record({ ...item, data: Buffer.from(item.data).toString("base64"), encoding: "base64" });
      else await show.piece(item);
    }
    await show.end();
    return exit;
  } finally {
    await printer.close();
  }
}

interface Piece {
  from: number;
  to: number;
  data: Uint8Array;
  stream?: string | undefined;
}

interface Shower {
  piece(piece: Piece): Promise<void>;
  end(): Promise<void>;
}

function rawShower(range: LogRange, printer: LogPrinter): Shower {
  return {
    piece: async (piece) => {
      if (range.stream === undefined || piece.stream === range.stream) await printer.bytes(piece.data);
    },
    end: async () => undefined,
  };
}

/** The text view is made by the daemon, a whole line at a time, so that a followed log reads like one that is printed later. */
function textShower(client: Client, range: LogRange, printer: LogPrinter, from: number): Shower {
  let shown = from;
  let seen = from;
  const showTo = async (to: number) => {
    while (shown < to) {
      const look = { view: "text" as const, ...(range.stream ? { stream: range.stream } : {}) };
      const page = await client.processes.log(range.id, { ...look, from: shown, to });
      await printer.bytes(toBytes(page));
      if (page.next <= shown) return;
      shown = page.next;
    }
  };
  return {
    piece: async (piece) => {
      seen = piece.to;
      const newline = Buffer.from(piece.data).lastIndexOf(0x0a);
      if (newline >= 0) await showTo(piece.from + newline + 1);
      else if (seen - shown > LINE_BYTES) await showTo(seen);
    },
    end: () => showTo(seen),
  };
}
