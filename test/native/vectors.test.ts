import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { encodeFrame, type FieldIn, Fields, FrameReader } from "../../src/native/frame.ts";
import { HintParser } from "../../src/native/hint.ts";
import { readU64 } from "../../src/native/number64.ts";
import { fieldKeys, frameTypes, STATE_BYTES, slots } from "../../src/native/protocol.ts";
import { parseStopped } from "../../src/native/shim-answers.ts";
import { parseState } from "../../src/native/state-file.ts";
import { toEnforced, toReason, toWarnings } from "../../src/native/words.ts";

// The same bytes, built by C (test/native/vectors.c) and by src/native. vectors.json says in words what is inside.

interface FieldWords {
  key: string;
  text?: string;
  number?: number;
  hex?: string;
  signal?: number;
  wait_ms?: number;
  fields?: FieldWords[];
}
type Values = Record<string, number> & { id: string; boot_id: string; detail: string; lost: [number, number][] };
interface Vector {
  name: string;
  kind: "frame" | "hint" | "slot_header" | "slot_exit" | "slot_end" | "slot_mark" | "index_record";
  type: string;
  tag: number;
  fields: FieldWords[];
  values: Values;
}

const folder = new URL("../fixtures/frames/", import.meta.url);
const vectors = JSON.parse(readFileSync(new URL("vectors.json", folder), "utf8")) as Vector[];
const hexOf = (name: string) => readFileSync(new URL(`${name}.hex`, folder), "latin1").trim();
const bytesOf = (name: string) => Buffer.from(hexOf(name), "hex");
const camel = (word: string) => word.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const keyOf = (word: string) => (fieldKeys as Record<string, number>)[camel(word)] ?? -1;
const valuesOf = (name: string) => vectors.find((vector) => vector.name === name)?.values as Values;

describe("byte vectors", () => {
  it("in the files are what C builds", () => {
    const built = execFileSync(fileURLToPath(new URL("../../build/test/vectors", import.meta.url)), {
      encoding: "latin1",
    });
    const lines = built
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    expect(new Set(lines.map(([name]) => name))).toEqual(new Set(vectors.map(({ name }) => name)));
    for (const [name = "", hex] of lines) expect(hex, name).toBe(hexOf(name));
  });

  const frames = vectors.filter(({ kind }) => kind === "frame");
  it.each(frames)("of the frame $name are what TypeScript builds", ({ name, type, tag, fields }) => {
    const number = (frameTypes as Record<string, number>)[camel(type)] ?? -1;
    expect(encodeFrame(number, tag, fields.map(toField)).toString("hex")).toBe(hexOf(name));
  });

  it.each(frames)("of the frame $name are read as what was meant", ({ name, type, tag, fields }) => {
    const [frame] = new FrameReader().push(bytesOf(name));
    expect(frame).toMatchObject({ type: (frameTypes as Record<string, number>)[camel(type)], tag, flags: 0 });
    expectFields(new Fields(frame?.body ?? Buffer.alloc(0)), fields);
  });

  it("of a stop's answer are read as a list", () => {
    const [frame] = new FrameReader().push(bytesOf("stop-ok"));
    expect(parseStopped(new Fields(frame?.body ?? Buffer.alloc(0)))).toEqual({
      ended: [{ pid: 4242, command: "sleep 100", by: 9 }],
      left: [{ pid: 4243, command: "[defunct]", why: "in uninterruptible sleep" }],
      count: 2,
      code: -1,
      signal: 9,
    });
  });

  it("of a hint are read as what was meant", () => {
    const { flags, kind: _kind, reason, log_end, at_ms, shim_pid, ...same } = valuesOf("hint-exited");
    expect(new HintParser().push(bytesOf("hint-exited"))).toEqual([
      {
        ...same,
        kind: "exited",
        warnings: toWarnings(flags ?? 0),
        reason: toReason(reason ?? 0),
        logEnd: log_end,
        atMs: at_ms,
        shimPid: shim_pid,
        errno: 0,
        stage: 0,
      },
    ]);
  });

  it("of the state slots are read as what was meant", () => {
    const file = Buffer.alloc(STATE_BYTES);
    for (const [name, at] of Object.entries({
      header: slots.header,
      exit: slots.exit,
      end: slots.end,
      mark: slots.markB,
    })) {
      bytesOf(`state-${name}`).copy(file, at);
    }
    const state = parseState(file);
    const { enforced, watched, ...header } = camelValues("state-header");
    expect(state.header).toEqual({
      ...header,
      tty: true,
      split: false,
      watched: watched !== 0,
      enforced: toEnforced(Number(enforced)),
    });
    const { reason, coreDumped, ...exit } = camelValues("state-exit");
    expect(state.exit).toEqual({ ...exit, reason: toReason(Number(reason)), coreDumped: coreDumped !== 0 });
    expect(state.end).toEqual(camelValues("state-end"));
    const { warnings, droppedFrom, droppedTo, indexDroppedFrom, indexDroppedTo, ...mark } = camelValues("state-mark");
    expect(state.mark).toEqual({
      ...mark,
      warnings: toWarnings(Number(warnings)),
      dropped: [droppedFrom, droppedTo],
      indexDropped: [indexDroppedFrom, indexDroppedTo],
    });
  });

  it("of an index record hold offset, stream and time", () => {
    const record = bytesOf("index-record");
    const { offset, stream, at_us } = valuesOf("index-record");
    expect(readU64(record, 0)).toBe((offset ?? 0) * 256 + (stream ?? 0));
    expect(readU64(record, 8)).toBe(at_us);
  });
});

function camelValues(name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(valuesOf(name)).map(([word, value]) => [camel(word), value]));
}

function toField(words: FieldWords): FieldIn {
  const key = keyOf(words.key);
  if (words.fields) return [key, encodeFrame(0, 0, words.fields.map(toField)).subarray(12)];
  if (words.hex !== undefined) return [key, Buffer.from(words.hex, "hex")];
  if (words.signal !== undefined) return [key, words.signal * 2 ** 32 + (words.wait_ms ?? 0)];
  return [key, words.text ?? words.number ?? ""];
}

function expectFields(got: Fields, wanted: readonly FieldWords[]): void {
  const places = new Map<string, number>();
  for (const words of wanted) {
    const place = places.get(words.key) ?? 0;
    places.set(words.key, place + 1);
    const bytes = got.all(keyOf(words.key))[place] ?? Buffer.alloc(0);
    if (words.fields) expectFields(new Fields(bytes), words.fields);
    else if (words.text !== undefined) expect(bytes.toString("utf8")).toBe(words.text);
    else if (words.hex !== undefined) expect(bytes.toString("hex")).toBe(words.hex);
    else if (words.number !== undefined) expect(bytes.readBigInt64LE(0)).toBe(BigInt(words.number));
    else expect(bytes.readUInt32LE(4)).toBe(words.signal);
  }
}
