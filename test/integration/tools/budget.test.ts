import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { caller } from "../../support/home.ts";
import { useTools } from "./tool-home.ts";

const tools = useTools();
const budget = fc.integer({ min: 1_024, max: 20_000 });

/** The log, byte for byte, as its own API gives it. */
async function readLog(id: string, from: number, to: number): Promise<Buffer> {
  const { data } = await tools.operations["process.log.bytes"]({ id, from, to }, caller());
  return Buffer.from(data);
}

async function show(data: Buffer, max_output_bytes: number) {
  const path = join(tools.home.path, "stream");
  writeFileSync(path, data);
  const result = await tools.call("execute", { command: `cat ${path} | cat`, timeout: "30s", max_output_bytes });
  return { ...result, output: result.output ?? "", omitted: result.omitted ?? [] };
}

describe("the output budget on real logs", () => {
  // Promise: model-ready
  test("text and omitted ranges make up the stream again, through the log API", async () => {
    const line = fc.string({ unit: "grapheme", maxLength: 80 }).map((text) => text.replaceAll(/\p{C}/gu, "."));
    const stream = fc
      .array(line, { maxLength: 900 })
      .map((lines) => Buffer.from(lines.map((l, i) => `${i} ${l}\n`).join("")));
    await fc.assert(
      fc.asyncProperty(stream, budget, async (data, max) => {
        const { process_id, output, omitted } = await show(data, max);
        expect(Buffer.byteLength(output)).toBeLessThanOrEqual(max);
        let text = output;
        for (const { from, to } of omitted) {
          const hole = (await readLog(process_id, from, to)).toString();
          text = text.replace(`\n\n... [omitted ${to - from} bytes] ...\n\n`, () => hole);
        }
        expect(text).toBe(data.toString());
      }),
      { numRuns: 15 },
    );
  });

  test("any bytes: it fits, is valid UTF-8, and what is omitted lies in the log", async () => {
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 4_000 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom("\r", "\n", "\x1b[A", "\x1b[2K\r", "é".repeat(3_000)).map((text) => Buffer.from(text)),
    );
    const stream = fc.array(chunk, { maxLength: 30 }).map((chunks) => Buffer.concat(chunks));
    await fc.assert(
      fc.asyncProperty(stream, budget, async (data, max) => {
        const { process_id, output, omitted } = await show(data, max);
        expect(Buffer.byteLength(output)).toBeLessThanOrEqual(max);
        expect(Buffer.from(output).toString()).toBe(output);
        for (const { from, to } of omitted) {
          expect((await readLog(process_id, from, to)).equals(data.subarray(from, to))).toBe(true);
        }
      }),
      { numRuns: 15 },
    );
  });
});
