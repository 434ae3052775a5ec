import { expect, test } from "vitest";
import { EventEncoder } from "../../../src/http/event-encoder.ts";

function decode(bytes: Uint8Array): { event: string; id: string; data: unknown } {
  const [, event, id, data] =
    /^event: (.*)\nid: (.*)\ndata: (.*)\n\n$/s.exec(Buffer.from(bytes).toString("utf8")) ?? [];
  expect(data).not.toContain("\n");
  return { event: event ?? "", id: id ?? "", data: JSON.parse(data ?? "") };
}

const output = (bytes: Buffer) => ({ event: "output", id: "9", output: { from: 3, to: 9, bytes } });

test("a message is its event, its id and its data", () => {
  const bytes = new EventEncoder().encode({ event: "exit", id: "7", data: { note: "zwölf\n" } });
  expect(decode(bytes)).toEqual({ event: "exit", id: "7", data: { note: "zwölf\n" } });
});

test("every character of output comes back as it was, in the form JSON.stringify gives it", () => {
  const text = `${Array.from({ length: 0x300 }, (_, i) => String.fromCodePoint(i)).join("")}€😀\u2028"\\`;
  const bytes = new EventEncoder().encode(output(Buffer.from(text)));
  expect(decode(bytes).data).toEqual({ from: 3, to: 9, data: text, encoding: "utf-8" });
  expect(bytes.toString()).toContain(JSON.stringify(text));
});

test("output that is no UTF-8 comes as base64", () => {
  const bytes = Buffer.from([0x61, 0xff, 0x0a]);
  const found = decode(new EventEncoder().encode(output(bytes))).data;
  expect(found).toEqual({ from: 3, to: 9, data: bytes.toString("base64"), encoding: "base64" });
});

test("names the stream", () => {
  const message = { event: "output", output: { from: 0, to: 1, stream: "stderr" as const, bytes: Buffer.from("x") } };
  expect(new EventEncoder().encode(message).toString()).toContain('"stream":"stderr","data":"x"');
});

test("a long chunk of controls, which grow six times, fits; so does a short one after it", () => {
  const encoder = new EventEncoder();
  const text = "\0".repeat(65_536);
  expect(decode(encoder.encode(output(Buffer.from(text)))).data).toMatchObject({ data: text });
  expect(decode(encoder.encode(output(Buffer.from("a")))).data).toMatchObject({ data: "a" });
  encoder.rest();
  expect(decode(encoder.encode(output(Buffer.from("b")))).data).toMatchObject({ data: "b" });
});
