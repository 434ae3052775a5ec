import { readI64, readU64, write64 } from "./number64.ts";
import { FIELD_HEADER_BYTES, FRAME_HEADER_BYTES, FRAME_MAX } from "./protocol.ts";

/** A field to send: a number is eight bytes, a text UTF-8. */
export type FieldIn = readonly [key: number, value: number | string | Uint8Array];

/** A frame that arrived; `body` points into what was read. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly tag: number;
  readonly body: Buffer;
}

/** One frame as one buffer. Throws a RangeError when it is over FRAME_MAX. */
export function encodeFrame(type: number, tag: number, fields: readonly FieldIn[]): Buffer {
  let most = FRAME_HEADER_BYTES;
  for (const [, value] of fields) most += FIELD_HEADER_BYTES + mostBytes(value);
  const frame = Buffer.allocUnsafe(most);
  let at = FRAME_HEADER_BYTES;
  for (const [key, value] of fields) at = writeField(frame, at, key, value);
  if (at > FRAME_MAX) throw new RangeError("frame over FRAME_MAX");
  frame.writeUInt32LE(at - 4, 0);
  frame.writeUInt16LE(type, 4);
  frame.writeUInt16LE(0, 6);
  frame.writeUInt32LE(tag, 8);
  return frame.subarray(0, at);
}

/** A UTF-16 unit becomes three bytes at most, so one pass over the text is enough. */
function mostBytes(value: number | string | Uint8Array): number {
  if (typeof value === "number") return 8;
  return typeof value === "string" ? value.length * 3 : value.length;
}

function writeField(to: Buffer, at: number, key: number, value: number | string | Uint8Array): number {
  const body = at + FIELD_HEADER_BYTES;
  let end: number;
  if (typeof value === "number") end = write64(to, value, body);
  else if (typeof value === "string") end = body + to.write(value, body, "utf8");
  else {
    to.set(value, body);
    end = body + value.length;
  }
  to.writeUInt32LE(key, at); // the key and the two zero bytes behind it
  to.writeUInt32LE(end - body, at + 4);
  return end;
}

/** Cuts a byte stream into frames. Everything that arrives is hostile until it was parsed here. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #have = 0;

  /** The frames that are whole now. Throws when the bytes are no frames; the stream is of no use after that. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#have += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      if (this.#have < FRAME_HEADER_BYTES) return frames;
      const whole = this.#gather(FRAME_HEADER_BYTES).readUInt32LE(0) + 4;
      if (whole < FRAME_HEADER_BYTES || whole > FRAME_MAX) throw new Error("malformed frame: impossible size");
      if (this.#have < whole) return frames;
      const bytes = this.#take(whole);
      frames.push({
        type: bytes.readUInt16LE(4),
        flags: bytes.readUInt16LE(6),
        tag: bytes.readUInt32LE(8),
        body: bytes.subarray(FRAME_HEADER_BYTES),
      });
    }
  }

  /** The first chunk, made long enough. A large frame is joined once, when it is whole. */
  #gather(size: number): Buffer {
    const first = this.#chunks[0] ?? Buffer.alloc(0);
    if (first.length >= size) return first;
    const joined = Buffer.concat(this.#chunks, this.#have);
    this.#chunks = [joined];
    return joined;
  }

  #take(size: number): Buffer {
    const first = this.#gather(size);
    this.#have -= size;
    if (first.length === size) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(size);
    return first.subarray(0, size);
  }
}

/** The fields of a body, by key. Reading a field that is absent or of another kind gives undefined; unknown ones are skipped. */
export class Fields {
  readonly #found = new Map<number, Buffer[]>();

  /** Throws when the body is no list of fields. */
  constructor(body: Buffer) {
    let at = 0;
    while (at < body.length) {
      if (body.length - at < FIELD_HEADER_BYTES) throw new Error("malformed field: cut header");
      const key = body.readUInt16LE(at);
      const size = body.readUInt32LE(at + 4);
      at += FIELD_HEADER_BYTES;
      if (size > body.length - at) throw new Error("malformed field: longer than its frame");
      const value = body.subarray(at, at + size);
      const others = this.#found.get(key);
      if (others) others.push(value);
      else this.#found.set(key, [value]);
      at += size;
    }
  }

  bytes(key: number): Buffer | undefined {
    return this.#found.get(key)?.[0];
  }

  all(key: number): readonly Buffer[] {
    return this.#found.get(key) ?? [];
  }

  text(key: number): string | undefined {
    return this.bytes(key)?.toString("utf8");
  }

  /** Unsigned. */
  number(key: number): number | undefined {
    const value = this.bytes(key);
    return value?.length === 8 ? readU64(value, 0) : undefined;
  }

  /** Two's complement. */
  signed(key: number): number | undefined {
    const value = this.bytes(key);
    return value?.length === 8 ? readI64(value, 0) : undefined;
  }
}
