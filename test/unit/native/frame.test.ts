import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeFrame, type FieldIn, Fields, FrameReader } from "../../../src/native/frame.ts";
import { FRAME_MAX } from "../../../src/native/protocol.ts";

const key = fc.integer({ min: 0, max: 0xffff });
const number = fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const text = fc.string({ unit: "grapheme" });
const field = fc.tuple(key, fc.oneof(number, text, fc.uint8Array({ maxLength: 300 })));
const frame = fc.record({
  type: fc.integer({ min: 0, max: 0xffff }),
  tag: fc.integer({ min: 0, max: 0xffffffff }),
  fields: fc.array(field, { maxLength: 12 }),
});

describe("frames", () => {
  it("come back as they were sent, however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 5 }), fc.array(fc.nat(4000), { maxLength: 30 }), (frames, cuts) => {
        const bytes = Buffer.concat(frames.map((f) => encodeFrame(f.type, f.tag, f.fields)));
        const reader = new FrameReader();
        const got = cutAt(bytes, cuts).flatMap((part) => reader.push(part));
        expect(got.map(({ type, tag }) => ({ type, tag }))).toEqual(frames.map(({ type, tag }) => ({ type, tag })));
        for (const [i, { fields }] of frames.entries())
          expectFields(new Fields(got[i]?.body ?? Buffer.alloc(0)), fields);
      }),
    );
  });

  it("are never made of a prefix", () => {
    fc.assert(
      fc.property(frame, fc.nat(), (f, at) => {
        const bytes = encodeFrame(f.type, f.tag, f.fields);
        expect(new FrameReader().push(bytes.subarray(0, at % bytes.length))).toEqual([]);
      }),
    );
  });

  it("of hostile bytes are refused with an Error and nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (chunks) => {
        const reader = new FrameReader();
        try {
          for (const chunk of chunks) for (const got of reader.push(Buffer.from(chunk))) new Fields(got.body);
        } catch (error) {
          expect((error as Error).message).toMatch(/^malformed/);
        }
      }),
    );
  });

  it("with damaged bytes never crash the reader of their fields", () => {
    fc.assert(
      fc.property(frame, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }), (f, damage) => {
        const body = Buffer.from(encodeFrame(f.type, f.tag, f.fields).subarray(12));
        for (const [at, value] of damage) if (body.length > 0) body[at % body.length] = value;
        let fields: Fields;
        try {
          fields = new Fields(body);
        } catch (error) {
          expect((error as Error).message).toMatch(/^malformed/);
          return;
        }
        for (const [name] of f.fields) {
          fields.text(name);
          try {
            fields.number(name);
            fields.signed(name);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        }
      }),
    );
  });

  it("say at once that a size is impossible", () => {
    const header = Buffer.alloc(12);
    for (const size of [0, 7, FRAME_MAX, 0xffffffff]) {
      header.writeUInt32LE(size, 0);
      expect(() => new FrameReader().push(header)).toThrow("impossible size");
    }
  });

  it("over the bound are not sent", () => {
    expect(() => encodeFrame(1, 0, [[1, Buffer.alloc(FRAME_MAX)]])).toThrow(RangeError);
    expect(encodeFrame(1, 0, [[1, Buffer.alloc(FRAME_MAX - 20)]])).toHaveLength(FRAME_MAX);
  });

  it("give undefined for a number that is not eight bytes", () => {
    const fields = new Fields(encodeFrame(1, 0, [[5, "abc"]]).subarray(12));
    expect(fields.number(5)).toBeUndefined();
    expect(fields.number(6)).toBeUndefined();
  });
});

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((to, i) => bytes.subarray(at[i], to));
}

function expectFields(got: Fields, sent: readonly FieldIn[]): void {
  const seen = new Map<number, number>();
  for (const [name, value] of sent) {
    const place = seen.get(name) ?? 0;
    seen.set(name, place + 1);
    const bytes = got.all(name)[place];
    if (typeof value === "string") expect(bytes?.toString()).toBe(Buffer.from(value).toString());
    else if (typeof value === "number") expect(bytes?.readBigInt64LE(0)).toBe(BigInt(value));
    else expect(bytes).toEqual(Buffer.from(value));
    if (typeof value === "number" && place === 0) expect(got.signed(name)).toBe(value);
    if (typeof value === "number" && place === 0 && value >= 0) expect(got.number(name)).toBe(value);
  }
}
