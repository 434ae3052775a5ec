import type { Readable, Writable } from "node:stream";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { ignore } from "../base/index.ts";

/** A longer line is refused and skipped; the largest that makes sense is a file to write. */
const LINE_BYTES = 16 << 20;
/** Whoever writes requests and closes the pipe still gets the answers that come this soon. */
const DRAIN_MS = 2_000;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/**
 * One JSON message a line. Unlike the library's own transport it answers what it cannot read (with an error of the protocol, as
 * JSON-RPC asks), survives a line that is too long, and lets answers out after the input has ended.
 */
export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #pending = new Set<unknown>();
  #pieces: Buffer[] = [];
  #size = 0;
  #skipping = false;
  #isEnding = false;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on("data", (piece: Buffer) => this.#take(piece));
    this.#input.once("end", () => this.#end());
    this.#input.once("close", () => this.#end());
    this.#input.on("error", (error) => this.onerror?.(error));
    this.#output.on("error", (error) => {
      this.onerror?.(error);
      void this.close();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return;
    const written = this.#write(message);
    if ("id" in message && !("method" in message)) this.#pending.delete(message.id);
    await written;
    if (this.#isEnding && this.#pending.size === 0) await this.close();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.pause();
    this.#input.removeAllListeners("data");
    this.onclose?.();
  }

  #take(piece: Buffer): void {
    let from = 0;
    for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, from)) {
      this.#add(piece.subarray(from, at));
      this.#finishLine();
      from = at + 1;
    }
    this.#add(piece.subarray(from));
  }

  #add(piece: Buffer): void {
    if (this.#skipping || piece.length === 0) return;
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size <= LINE_BYTES) return;
    this.#skipping = true;
    this.#pieces = [];
    this.#refuse(INVALID_REQUEST, `A message is over ${LINE_BYTES} bytes.`);
  }

  #finishLine(): void {
    const line = Buffer.concat(this.#pieces).toString("utf8").trim();
    const isWhole = !this.#skipping;
    this.#pieces = [];
    this.#size = 0;
    this.#skipping = false;
    if (isWhole && line !== "") this.#read(line);
  }

  #read(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      ignore(error, "the sender is told");
      return this.#refuse(PARSE_ERROR, "Parse error: the line is not JSON.");
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch (error) {
      ignore(error, "the sender is told");
      return this.#refuse(INVALID_REQUEST, "Invalid request: the line is no JSON-RPC 2.0 message.", idOf(value));
    }
    if (isJSONRPCRequest(message)) this.#pending.add(message.id);
    // A cancelled request gets no answer.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#pending.delete(message.params?.["requestId"]);
    }
    this.onmessage?.(message);
  }

  #refuse(code: number, text: string, id: string | number | null = null): void {
    this.#write({ jsonrpc: "2.0", id, error: { code, message: text } }).catch((error: unknown) =>
      ignore(error, "whoever sends nonsense may also not read"),
    );
  }

  #write(message: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#output.write(`${JSON.stringify(message)}\n`)) return resolve();
      const done = () => {
        this.#output.off("drain", done).off("close", done).off("error", failed);
        resolve();
      };
      const failed = (error: Error) => {
        this.#output.off("drain", done).off("close", done);
        reject(error);
      };
      this.#output.once("drain", done).once("close", done).once("error", failed);
    });
  }

  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#pending.size === 0) void this.close();
    else setTimeout(() => void this.close(), DRAIN_MS).unref();
  }
}

function idOf(value: unknown): string | number | null {
  const id = (value as { id?: unknown } | null)?.id;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
