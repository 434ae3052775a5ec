import type { Caller, ExitFacts, OperationInput, OperationName, OperationOutput } from "../contract/index.ts";
import type { GitMessage } from "../git/index.ts";

/** Operations that answer with one value. The OpenAPI document is made by the door that serves it. */
export type JsonOperation = Exclude<
  OperationName,
  | "process.stream"
  | "events.stream"
  | "process.attach"
  | "daemon.openapi"
  | "file.read"
  | "file.write"
  | "git.watch"
  | "git.stream"
>;

/** One message of an event stream; the door makes JSON of it, unless `json` holds it already. */
export type SseMessage = { event: string; id?: string } & ({ data: unknown; json?: string } | { output: OutputBytes });

/** What becomes an OutputChunk. The bytes are good until the next message is asked for. */
export interface OutputBytes {
  from: number;
  to: number;
  stream?: "stdout" | "stderr";
  bytes: Uint8Array;
}

/** What an attachment says besides bytes. */
export type AttachControl =
  | { type: "replay_end"; cursor: number }
  | ({ type: "exit" } & ExitFacts)
  | { type: "dropped"; from: number; to: number };

/** A terminal, or a pipe, in both directions. */
export interface Attachment {
  readonly output: AsyncIterable<Uint8Array | AttachControl>;
  readonly readonly: boolean;
  write(data: Uint8Array): Promise<void>;
  resize(cols: number, rows: number): Promise<void>;
  close(): void;
}

/** Changes in repositories; ends with the caller's signal. */
export interface GitWatching {
  readonly messages: AsyncIterable<GitMessage>;
  /** Has everything read anew; a message follows in any case. */
  refresh(): void;
}

/** Log bytes as they are, for `Accept: application/octet-stream`. */
export interface LogBytes {
  from: number;
  to: number;
  end: number;
  next: number;
  data: Uint8Array;
}

/** A file, or a range of it, opened; whoever has it reads `chunks` to the end or calls `close`. */
export interface FileBytes {
  /** Of the whole file. */
  readonly size: number;
  /** Of what is answered. */
  readonly length: number;
  readonly type: string;
  chunks(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

type Handler<K extends OperationName> = (
  input: OperationInput<K>,
  caller: Caller,
) => Promise<OperationOutput<K>> | OperationOutput<K>;

/** One short function per operation. A stream's function throws before its first message when the request is at fault. */
export type Operations = { [K in JsonOperation]: Handler<K> } & {
  "process.log.bytes": (input: OperationInput<"process.log">, caller: Caller) => Promise<LogBytes> | LogBytes;
  "file.read": (input: OperationInput<"file.read">, caller: Caller) => Promise<FileBytes>;
  "file.write": (
    input: OperationInput<"file.write">,
    caller: Caller,
    body: AsyncIterable<Uint8Array>,
  ) => Promise<OperationOutput<"file.write">>;
  "process.stream": (input: OperationInput<"process.stream">, caller: Caller) => AsyncIterable<SseMessage>;
  "events.stream": (input: OperationInput<"events.stream">, caller: Caller) => AsyncIterable<SseMessage>;
  "process.attach": (input: OperationInput<"process.attach">, caller: Caller) => Promise<Attachment>;
  "git.watch": (input: OperationInput<"git.watch">, caller: Caller) => GitWatching;
  "git.stream": (input: OperationInput<"git.stream">, caller: Caller) => Promise<AsyncIterable<SseMessage>>;
};
