import { isUtf8 } from "node:buffer";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OutputChunk } from "../../../src/contract/index.ts";
import {
  type ProcessRecord,
  readLogBytes,
  type StreamItem,
  type Supervisor,
  streamItems,
} from "../../../src/process/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { program } from "../../support/real-daemon.ts";

const never = new AbortController().signal;
let home: TestHome;
let supervisor: Supervisor;

beforeEach(async () => {
  home = new TestHome();
  supervisor = await home.open();
});
afterEach(() => home[Symbol.asyncDispose]());

/** An item as its message on the wire is read: `id` is the byte at which to resume. */
interface StreamEvent {
  event: StreamItem["kind"];
  id: number;
  data: object;
}

async function* streamOutput(
  host: Supervisor,
  record: ProcessRecord,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void, undefined> {
  for await (const item of streamItems(host, record, from, { signal, reuse: true })) yield toEvent(item);
}

function toEvent(item: StreamItem): StreamEvent {
  const id = "to" in item ? item.to : item.at;
  if (item.kind === "output") return { event: "output", id, data: toChunk(item) };
  return { event: item.kind, id, data: item.kind === "exit" ? item.facts : item };
}

function toChunk({ from, to, data, stream }: Extract<StreamItem, { kind: "output" }>): OutputChunk {
  const encoding = isUtf8(data) ? "utf-8" : "base64";
  return {
    from,
    to,
    ...(stream && { stream }),
    data: data.toString(encoding === "utf-8" ? "utf8" : "base64"),
    encoding,
  };
}

async function collect(record: ProcessRecord, from = 0): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of streamOutput(supervisor, record, from, never)) events.push(event);
  return events;
}

const bytesOf = (events: StreamEvent[]) =>
  Buffer.concat(
    events
      .filter((e) => e.event === "output")
      .map((e) => e.data as OutputChunk)
      .map((chunk) => Buffer.from(chunk.data, chunk.encoding === "base64" ? "base64" : "utf8")),
  );

describe("the stream", () => {
  test("is output, then the exit, then the end", async () => {
    const { record } = await supervisor.start({ command: "echo a; sleep 0.1; echo b; exit 4" }, caller());
    const events = await collect(record);
    expect(bytesOf(events).toString()).toBe("a\nb\n");
    expect(events.slice(-2)).toMatchObject([
      { event: "exit", id: 4, data: { exit_code: 4, log_end: 4, leftover_count: 0 } },
      { event: "end", id: 4 },
    ]);
    expect(await collect(record)).toMatchObject([
      { event: "output", id: 4, data: { from: 0, to: 4, data: "a\nb\n", encoding: "utf-8" } },
      { event: "exit" },
      { event: "end" },
    ]);
  });

  test("pain P3: goes on with what leftovers print after the exit", async () => {
    const { record } = await supervisor.start({ command: "(sleep 0.4; echo late) & echo early; exit 3" }, caller());
    const events = await collect(record);
    const order = events.map((e) => (e.event === "output" ? (e.data as OutputChunk).data : e.event));
    expect(order).toEqual(["early\n", "exit", "late\n", "end"]);
    expect(events[1]?.data).toMatchObject({ exit_code: 3, leftover_count: expect.toSatisfy((n) => n >= 1) });
  });

  test.each([
    ["prints-bytes", ["3000000"]],
    ["prints-binary", []],
    ["splits-utf8", []],
    ["writes-both", ["300"]],
  ])("pain S17: of %s resumed at every event is the whole log", async (name, args) => {
    const { record } = await supervisor.start({ argv: [program(name), ...args] }, caller());
    const parts: Buffer[] = [];
    for (let from = 0, isOver = false; !isOver; ) {
      for await (const event of streamOutput(supervisor, record, from, never)) {
        parts.push(bytesOf([event]));
        from = event.id;
        isOver = event.event === "end";
        if (event.event === "output") break;
      }
    }
    const { end } = readLogBytes(supervisor, record, {});
    const expected: Buffer[] = [];
    for (let from = 0; from < end; ) {
      const page = readLogBytes(supervisor, record, { from });
      expected.push(page.data);
      from = page.next;
    }
    expect(Buffer.concat(parts).equals(Buffer.concat(expected))).toBe(true);
  });

  test("pain P21: keeps a split character whole", async () => {
    const command = "printf 'a\\303'; sleep 0.2; printf '\\251b'";
    const { record } = await supervisor.start({ command }, caller());
    const chunks = (await collect(record)).filter((e) => e.event === "output").map((e) => e.data as OutputChunk);
    expect(chunks.every((chunk) => chunk.encoding === "utf-8")).toBe(true);
    expect(chunks.map((chunk) => chunk.data).join("")).toBe("aéb");
  });

  test("names the streams when they are split", async () => {
    const { record } = await supervisor.start(
      { argv: [program("writes-both"), "20", "2"], streams: "split" },
      caller(),
    );
    const chunks = (await collect(record)).filter((e) => e.event === "output").map((e) => e.data as OutputChunk);
    const of = (stream: string) =>
      chunks
        .filter((c) => c.stream === stream)
        .map((c) => c.data)
        .join("");
    expect(of("stderr")).toBe(Array.from({ length: 20 }, (_, i) => `err ${i + 1}\n`).join(""));
    expect(of("stdout")).toBe(Array.from({ length: 20 }, (_, i) => `out ${i + 1}\n`).join(""));
  });

  test("tells of bytes that the ring dropped", async () => {
    const { record } = await supervisor.start(
      { argv: [program("prints-bytes"), "1000000"], log_bytes: 65_536 },
      caller(),
    );
    await record.waitEnd(never);
    const events = await collect(record);
    const gaps = events.filter((e) => e.event === "dropped").map((e) => e.data as { from: number; to: number });
    expect(gaps).toHaveLength(1);
    expect(bytesOf(events).length + (gaps[0]?.to ?? 0) - (gaps[0]?.from ?? 0)).toBe(1_000_000);
    expect(events.at(-1)?.event).toBe("end");
  });

  test("a slow reader holds up neither the process nor other readers", async () => {
    const { record } = await supervisor.start({ argv: [program("prints-bytes"), "20000000"] }, caller());
    const slow = streamOutput(supervisor, record, 0, never)[Symbol.asyncIterator]();
    await slow.next();
    expect(bytesOf(await collect(record)).length).toBe(20_000_000);
    expect(record.ended).toBe(true);
    await slow.return?.();
  });

  test("ends quietly when its reader goes", async () => {
    const { record } = await supervisor.start({ command: "echo a; sleep 60" }, caller());
    const gone = new AbortController();
    const seen: StreamEvent[] = [];
    for await (const event of streamOutput(supervisor, record, 0, gone.signal)) {
      seen.push(event);
      setTimeout(() => gone.abort(), 50);
    }
    expect(seen).toHaveLength(1);
    expect(record.running).toBe(true);
  });
});
