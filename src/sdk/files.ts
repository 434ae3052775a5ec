import type { OperationOutput } from "../contract/index.ts";
import { ask, type CallOptions, parseAnswer, readAll } from "./call.ts";
import type { Methods, RequestOf } from "./client-types.ts";
import type { Connection } from "./connection.ts";
import type { WireBody } from "./transport.ts";

/** A file, or a range of it, on its way. Read it once: whole or in chunks. */
export interface FileContent {
  /** Of the whole file. */
  readonly size: number;
  readonly type: string;
  bytes(): Promise<Uint8Array>;
  chunks(): AsyncIterable<Uint8Array>;
}

/** Everything about files. */
export interface Files extends Methods<"file"> {
  /** The bytes of a file, or a range of them. */
  read(request: RequestOf<"file.read">, options?: CallOptions): Promise<FileContent>;
  /** Replaces a file, whole or not at all. Chunks are sent as they come. */
  write(
    request: RequestOf<"file.write">,
    content: WireBody,
    options?: CallOptions,
  ): Promise<OperationOutput<"file.write">>;
}

export async function readFile(
  connection: Connection,
  request: RequestOf<"file.read">,
  options: CallOptions = {},
): Promise<FileContent> {
  const answer = await ask(connection, "file.read", request, options);
  return {
    size: Number(answer.header("Drover-File-Size")),
    type: answer.header("Content-Type") ?? "application/octet-stream",
    bytes: () => readAll(connection, answer, options.signal),
    chunks: () => answer.chunks(),
  };
}

export async function writeFile(
  connection: Connection,
  request: RequestOf<"file.write">,
  content: { body: WireBody; options?: CallOptions | undefined },
): Promise<OperationOutput<"file.write">> {
  const { body, options = {} } = content;
  const answer = await ask(connection, "file.write", request, { ...options, body });
  const text = new TextDecoder().decode(await readAll(connection, answer, options.signal));
  return parseAnswer(connection, text) as OperationOutput<"file.write">;
}
