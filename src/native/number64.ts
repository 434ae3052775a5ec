// 64-bit numbers as JavaScript numbers, in two halves: a BigInt for each would cost more than the rest of a frame.

const HALF = 0x1_0000_0000;

/** Throws a RangeError beyond 2^53: such a number is never ours. */
export function readU64(from: Buffer, at: number): number {
  const high = from.readUInt32LE(at + 4);
  if (high >= 0x20_0000) throw new RangeError("a number is beyond 2^53");
  return high * HALF + from.readUInt32LE(at);
}

/** Two's complement. */
export function readI64(from: Buffer, at: number): number {
  const high = from.readInt32LE(at + 4);
  if (high >= 0x20_0000 || high < -0x20_0000) throw new RangeError("a number is beyond 2^53");
  return high * HALF + from.readUInt32LE(at);
}

/** Any safe integer; negative ones as two's complement. Returns the offset behind it. */
export function write64(to: Buffer, value: number, at: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError("not a whole number below 2^53");
  const high = Math.floor(value / HALF);
  to.writeUInt32LE(value - high * HALF, at);
  return to.writeInt32LE(high, at + 4);
}
