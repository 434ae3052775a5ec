import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProcessId } from "../../../src/contract/index.ts";
import { type Hint, HintParser } from "../../../src/native/hint.ts";
import { HINT_BYTES, HINT_MAGIC } from "../../../src/native/protocol.ts";

const id = "3f2b8c9e-1d4a-4f6b-8a7c-5e9d0b1c2a3f" as ProcessId;

function record(kind: number, change: (b: Buffer) => void = () => {}): Buffer {
  const b = Buffer.alloc(HINT_BYTES);
  b.writeUInt32LE(HINT_MAGIC, 0);
  b.writeUInt16LE(kind, 4);
  b.write(id.replaceAll("-", ""), 8, "hex");
  b.writeUInt32LE(4711, 24);
  b.writeBigUInt64LE(123_456_789n, 40);
  b.writeBigUInt64LE(5_000_000_000n, 48);
  b.writeBigUInt64LE(1_795_000_000_000n, 56);
  b.writeUInt32LE(99, 68);
  change(b);
  return b;
}

describe("hints", () => {
  it("tell how a command ended", () => {
    const [hint] = new HintParser().push(
      record(2, (b) => {
        b.writeInt32LE(-1, 28);
        b.writeUInt32LE(9, 32);
        b.writeUInt32LE(5, 36);
        b.writeUInt16LE(1, 6);
        b.writeUInt32LE(3, 64);
      }),
    );
    expect(hint).toEqual({
      kind: "exited",
      id,
      warnings: ["disk_full"],
      pid: 4711,
      code: -1,
      signal: 9,
      reason: "oom",
      errno: 0,
      stage: 0,
      start: 123_456_789,
      logEnd: 5_000_000_000,
      atMs: 1_795_000_000_000,
      children: 3,
      shimPid: 99,
    } satisfies Hint);
  });

  it("tell why a command did not start", () => {
    const [hint] = new HintParser().push(
      record(1, (b) => {
        b.writeInt32LE(2, 28);
        b.writeUInt32LE(7, 32);
      }),
    );
    expect(hint).toMatchObject({ kind: "started", errno: 2, stage: 7, code: 0, signal: 0 });
  });

  it("are found again behind garbage, however the stream is cut", () => {
    const parts = fc.array(fc.oneof(fc.constant(record(1)), fc.constant(record(3)), garbage()), { maxLength: 12 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 200 }), (list, step) => {
        // A record behind everything, so that no garbage can swallow the last bytes of the list.
        const bytes = Buffer.concat([...list, record(4)]);
        const parser = new HintParser();
        const got: Hint[] = [];
        for (let at = 0; at < bytes.length; at += step) got.push(...parser.push(bytes.subarray(at, at + step)));
        const wanted = [...list, record(4)].filter((part) => part.length === HINT_BYTES);
        expect(got.map((hint) => hint.kind)).toEqual(wanted.map((part) => kindOf(part)));
      }),
    );
  });

  it("of a kind or number that is not known are skipped", () => {
    const tooLarge = record(1, (b) => b.fill(0xff, 40, 48));
    expect(new HintParser().push(Buffer.concat([record(77), tooLarge, record(3)])).map((h) => h.kind)).toEqual([
      "ended",
    ]);
  });
});

/** Never a whole magic, not even together with its neighbour. */
function garbage() {
  return fc.uint8Array({ minLength: 1, maxLength: 79 }).map((bytes) => Buffer.from(bytes.map((byte) => byte & 0x0f)));
}

function kindOf(part: Buffer): string | undefined {
  return [undefined, "started", "exited", "ended", "warning"][part.readUInt16LE(4)];
}
