import { isUtf8 } from "node:buffer";
import type { OutputBytes, SseMessage } from "../operations/index.ts";

/** Room to begin with, and what a step of escaping may need at most: a control byte becomes six. */
const FIRST_BYTES = 4 << 10;
const STEP_BYTES = 4 << 10;
const WORST = 6;

/**
 * Messages as bytes of an event stream, in one buffer that is used again and again: what `encode` returns is good until the next
 * call. Text on the way from a log to a socket never becomes a string: of those the garbage collector would let tens of
 * megabytes pile up, and hold the event loop for milliseconds to move them about.
 */
export class EventEncoder {
  #room: Buffer = Buffer.alloc(0);
  #used = 0;

  encode(message: SseMessage): Buffer {
    this.#used = 0;
    const id = message.id === undefined ? "" : `id: ${message.id}\n`;
    this.#text(`event: ${message.event}\n${id}data: `);
    if ("output" in message) this.#output(message.output);
    else this.#text(message.json ?? JSON.stringify(message.data));
    this.#text("\n\n");
    return this.#room.subarray(0, this.#used);
  }

  /** Lets the buffer go, when nothing was said for a while. */
  rest(): void {
    this.#room = Buffer.alloc(0);
  }

  /** An OutputChunk of the contract. */
  #output({ from, to, stream, bytes }: OutputBytes): void {
    const name = stream === undefined ? "" : `"stream":"${stream}",`;
    this.#text(`{"from":${from},"to":${to},${name}"data":"`);
    const isText = isUtf8(bytes);
    if (isText) this.#escaped(bytes);
    else this.#text(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64"));
    this.#text(`","encoding":"${isText ? "utf-8" : "base64"}"}`);
  }

  #text(text: string): void {
    this.#reserve(text.length * 3);
    this.#used += this.#room.write(text, this.#used);
  }

  /** The inside of a JSON string (RFC 8259, section 7): quotes, backslashes and controls are escaped, the rest stays. */
  #escaped(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += STEP_BYTES) {
      this.#reserve(STEP_BYTES * WORST);
      this.#used = escapeInto(this.#room, this.#used, bytes.subarray(from, from + STEP_BYTES));
    }
  }

  #reserve(bytes: number): void {
    if (this.#room.length - this.#used >= bytes) return;
    const room = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, this.#used * 2, this.#used + bytes));
    this.#room.copy(room, 0, 0, this.#used);
    this.#room = room;
  }
}

/** By byte: 0 stays as it is, 1 has no short form, anything else is the letter behind the backslash. */
const escapes = Uint8Array.from({ length: 256 }, (_, byte) => {
  const short: Record<number, string> = { 8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 34: '"', 92: "\\" };
  return short[byte]?.charCodeAt(0) ?? (byte < 32 ? 1 : 0);
});
const hex = Buffer.from("0123456789abcdef");

function escapeInto(room: Buffer, start: number, bytes: Uint8Array): number {
  let at = start;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    const escape = escapes[byte] as number;
    if (escape === 0) room[at++] = byte;
    else {
      room[at++] = 0x5c;
      if (escape === 1) at = writeUnicode(room, at, byte);
      else room[at++] = escape;
    }
  }
  return at;
}

/** `u00XX`. */
function writeUnicode(room: Buffer, at: number, byte: number): number {
  room[at] = 0x75;
  room[at + 1] = room[at + 2] = 0x30;
  room[at + 3] = hex[byte >> 4] as number;
  room[at + 4] = hex[byte & 15] as number;
  return at + 5;
}
