import fc from "fast-check";
import { expect, test } from "vitest";
import { type SseEvent, SseParser } from "../../../src/sdk/sse.ts";

function parse(bytes: Uint8Array, cuts: readonly number[]): SseEvent[] {
  const parser = new SseParser();
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  const events: SseEvent[] = [];
  for (const to of [...places, bytes.length]) {
    events.push(...parser.push(bytes.subarray(from, to)));
    from = to;
  }
  return events;
}

const all = (text: string) => parse(new TextEncoder().encode(text), []);

test("reads fields, comments, ids that last and data of several lines", () => {
  expect(all(": hello\n\nevent: output\nid: 5\ndata: one\ndata:two\n\ndata\n\n")).toEqual([
    { event: "output", data: "one\ntwo", id: "5" },
    { event: "message", data: "", id: "5" },
  ]);
});

test("leaves out an event that is cut off, and one without data", () => {
  expect(all("event: output\nid: 1\n\nid: 2\ndata: cut")).toEqual([]);
});

test("ends lines at CR, LF and both, and takes off one byte order mark", () => {
  expect(all("\uFEFFdata: a\r\n\r\ndata: b\r\rdata: c\n\n").map((e) => e.data)).toEqual(["a", "b", "c"]);
});

const eol = fc.constantFrom("\n", "\r\n", "\r");
const line = fc.oneof(
  fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, " ")}`),
  fc.nat().map((n) => `id: ${n}`),
  fc.constantFrom("event: output", "event: exit", ": comment", "", "", "unknown: x"),
);

test("any chunking gives the same events", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, eol), { maxLength: 40 }),
      fc.array(fc.nat(5000), { maxLength: 60 }),
      (lines, cuts) => {
        const bytes = new TextEncoder().encode(lines.flat().join(""));
        expect(parse(bytes, cuts)).toEqual(parse(bytes, []));
      },
    ),
    { numRuns: 500 },
  );
});

test("one byte at a time gives the same events", () => {
  const bytes = new TextEncoder().encode("event: output\r\nid: 7\r\ndata: €😀\r\n\r\ndata: x\r\r");
  expect(parse(bytes, [...bytes.keys()])).toEqual(parse(bytes, []));
});
