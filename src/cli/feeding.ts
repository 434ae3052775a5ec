import { setTimeout as sleep } from "node:timers/promises";
import { Fault, type ProcessId } from "../contract/index.ts";
import type { Client } from "../sdk/index.ts";

/** Well below the bound of a request body, base64 included. */
const PIECE_BYTES = 256 << 10;
/** Between two tries to write to a process that does not read. */
const FULL_MS = 50;

/** Passes a stream on to the stdin of a process, as fast as it reads, and closes it at the end. Stops when nobody reads. */
export async function feedStdin(client: Client, id: ProcessId, from: NodeJS.ReadableStream): Promise<void> {
  try {
    for await (const piece of from as AsyncIterable<Buffer | string>) {
      const data = Buffer.from(piece);
      for (let at = 0; at < data.length; at += PIECE_BYTES)
        await writePiece(client, id, data.subarray(at, at + PIECE_BYTES));
    }
    await client.processes.stdin(id, { close: true });
  } catch (error) {
    if (!isOver(error)) throw error;
  }
}

/** Writes all of it, however slowly the process reads. */
export async function writePiece(client: Client, id: ProcessId, data: Buffer): Promise<void> {
  const write_id = globalThis.crypto.randomUUID();
  for (;;) {
    try {
      await client.processes.stdin(id, { data: data.toString("base64"), encoding: "base64", write_id });
      return;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "process/stdin-full") throw error;
      await sleep(FULL_MS);
    }
  }
}

/** The process has ended or closed its stdin: what is left to write is not wanted. */
export function isOver(error: unknown): boolean {
  return (
    error instanceof Fault && ["process/no-stdin", "process/not-running", "process/unreachable"].includes(error.code)
  );
}
