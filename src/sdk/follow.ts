import type { ExitFacts, OutputChunk } from "../contract/index.ts";
import type { Connection } from "./connection.ts";
import { decodeData } from "./decode-data.ts";
import { readStream } from "./stream.ts";

export interface FollowOptions {
  /** First byte to read; 0 unless given. */
  from?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** What following a process yields, in the order of the log. */
export type Followed =
  | { type: "output"; from: number; to: number; data: Uint8Array; stream?: "stdout" | "stderr" }
  | { type: "dropped"; from: number; to: number }
  | ({ type: "exit" } & ExitFacts);

/**
 * Output from a byte on, then live, then the exit; ends when nothing can write any more. Survives broken connections and restarts of
 * the daemon: every byte comes once, or as part of a `dropped` range that the log no longer has.
 */
export async function* follow(
  connection: Connection,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Followed> {
  let position = options.from ?? 0;
  let sawExit = false;
  const input = () => ({ id, from: position });
  for await (const { event, data } of readStream(connection, {
    name: "process.stream",
    input,
    signal: options.signal,
  })) {
    if (event === "end") return;
    if (event === "exit" && !sawExit) {
      sawExit = true;
      yield { type: "exit", ...(JSON.parse(data) as ExitFacts) };
    } else if (event === "output" || event === "dropped") {
      const part = JSON.parse(data) as { from: number; to: number };
      if (part.to <= position) continue;
      const from = Math.max(part.from, position);
      position = part.to;
      yield event === "dropped" ? { type: "dropped", from, to: part.to } : toOutput(part as OutputChunk, from);
    }
  }
}

function toOutput(chunk: OutputChunk, from: number): Followed {
  const data = decodeData(chunk).subarray(from - chunk.from);
  const output = { type: "output", from, to: chunk.to, data } as const;
  return chunk.stream ? { ...output, stream: chunk.stream } : output;
}
