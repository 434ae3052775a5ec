import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { END_MAGIC, EXIT_MAGIC, MARK_MAGIC, SLOT_BYTES, STATE_BYTES, slots } from "../../../src/native/protocol.ts";
import { parseMark, parseState } from "../../../src/native/state-file.ts";

const id = "3f2b8c9e-1d4a-4f6b-8a7c-5e9d0b1c2a3f";

function seal(file: Buffer, slot: keyof typeof slots): void {
  const at = slots[slot];
  file.writeUInt32LE(crc32(file.subarray(at, at + SLOT_BYTES - 4)), at + SLOT_BYTES - 4);
}

function fresh(): Buffer {
  const file = Buffer.alloc(STATE_BYTES);
  file.write("DROVERS1", 0, "latin1");
  file.writeUInt32LE(1, 8);
  file.writeUInt32LE(1, 12);
  file.write(id, 16, "latin1");
  file.writeUInt32LE(3, 52);
  file.writeUInt32LE(4711, 108);
  file.writeBigUInt64LE(77n, 120);
  file.writeUInt32LE(2 | 4, 196);
  seal(file, "header");
  return file;
}

function withExit(file = fresh()): Buffer {
  file.writeUInt32LE(EXIT_MAGIC, slots.exit);
  file.writeUInt32LE(3, slots.exit + 4);
  file.writeInt32LE(-1, slots.exit + 8);
  file.writeInt32LE(15, slots.exit + 12);
  file.write("over the limit", slots.exit + 88);
  seal(file, "exit");
  return file;
}

function withMark(file: Buffer, slot: "markA" | "markB", seq: number): Buffer {
  file.writeUInt32LE(MARK_MAGIC, slots[slot]);
  file.writeBigUInt64LE(BigInt(seq), slots[slot] + 8);
  file.writeUInt32LE(1, slots[slot] + 56);
  file.writeBigUInt64LE(10n, slots[slot] + 72);
  file.writeBigUInt64LE(20n, slots[slot] + 80);
  seal(file, slot);
  return file;
}

describe("the state file", () => {
  it("names the command before anything else happened", () => {
    const state = parseState(fresh());
    expect(state.header).toMatchObject({ id, leaderPid: 4711, leaderStart: 77, tty: true, split: true });
    expect(state.header.enforced).toEqual({ memory_bytes: "watched", pids: "cgroup" });
    expect(state).not.toHaveProperty("exit");
    expect(state).not.toHaveProperty("end");
    expect(state).not.toHaveProperty("mark");
  });

  it("tells how the command ended", () => {
    expect(parseState(withExit()).exit).toMatchObject({
      reason: "timeout",
      code: -1,
      signal: 15,
      detail: "over the limit",
    });
  });

  it("tells that nothing is left", () => {
    const file = withExit();
    file.writeUInt32LE(END_MAGIC, slots.end);
    file.writeUInt32LE(12, slots.end + 4);
    seal(file, "end");
    expect(parseState(file).end).toMatchObject({ reaped: 12 });
  });

  it("has the newer of two marks, or the whole one", () => {
    const file = withMark(withMark(fresh(), "markA", 7), "markB", 8);
    expect(parseMark(file)).toMatchObject({ seq: 8, lost: [[10, 20]] });
    file[slots.markB + 300] = 1;
    expect(parseMark(file)?.seq).toBe(7);
    file[slots.markA + 300] = 1;
    expect(parseMark(file)).toBeUndefined();
  });

  it("with any damaged byte in header or exit slot is corrupt, never another answer", () => {
    const damage = fc.tuple(fc.nat(slots.end - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(damage, ([at, bits]) => {
        const file = withExit();
        file[at] = (file[at] ?? 0) ^ bits;
        expect(() => parseState(file)).toThrow(/state file/);
      }),
    );
  });

  it("made of any bytes gives an Error or an answer", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: STATE_BYTES }), fc.boolean(), (bytes, keepHeader) => {
        const file = keepHeader ? withExit() : Buffer.alloc(STATE_BYTES);
        Buffer.from(bytes).copy(file, keepHeader ? slots.exit : 0);
        try {
          parseState(file);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
    expect(() => parseState(Buffer.alloc(100))).toThrow("cut");
  });
});
