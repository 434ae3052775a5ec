import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { MachineId } from "../../../src/contract/index.ts";
import { configSchema } from "../../../src/contract/schemas.ts";
import { createOperations, Metrics, type Operations } from "../../../src/operations/index.ts";
import { caller, TestHome } from "../../support/home.ts";
import { until } from "../../support/until.ts";

const chat = "11111111-1111-4111-8111-111111111111";
const other = "22222222-2222-4222-8222-222222222222";
let home: TestHome;
let operations: Operations;

beforeEach(async () => {
  home = new TestHome();
  const supervisor = await home.open();
  operations = createOperations({
    supervisor,
    tokens: home.openTokens(),
    git: home.openGit(),
    config: configSchema.parse({}),
    metrics: new Metrics(),
    daemon: {
      version: "1",
      protocol: 1,
      machineId: "m" as MachineId,
      machineName: "n",
      home: home.path,
      socket: "s",
      startedAtMs: 0,
      features: [],
      url: () => "u",
      shutDown: () => undefined,
      measures: () => [],
    },
  });
});
afterEach(() => home[Symbol.asyncDispose]());

describe("operations", () => {
  test("start and wait in one call", async () => {
    const answer = await operations["process.start"](
      { command: "echo out; exit 2", wait: { for: { exit: true } } },
      caller(),
    );
    expect(answer).toMatchObject({
      started: true,
      wait: { fired: "exit", exit_code: 2, output: "out\n", running: false },
    });
  });

  test("start nothing when the wait cannot be", async () => {
    await expect(async () =>
      operations["process.start"]({ command: "sleep 30", wait: { for: { match: "(" } } }, caller()),
    ).rejects.toMatchObject({ code: "regex/invalid" });
    expect(await operations["process.list"]({}, caller())).toEqual({ processes: [] });
  });

  // Promise: never-hangs
  test("answer at the exit of the command, with what it left behind", async () => {
    const { id } = await operations["process.start"]({ command: "sleep 30 & echo started" }, caller());
    const output = await operations["process.output"]({ id, wait: "true" }, caller());
    expect(output).toMatchObject({
      output: "started\n",
      running: false,
      exit_code: 0,
      leftovers: [{ command: "sleep 30" }],
    });
    expect(await operations["process.get"]({ id }, caller())).toMatchObject({
      leftover_count: 1,
      leftovers: [{ command: "sleep 30" }],
    });
  });

  test("check a signal in the original's order", async () => {
    const { id } = await operations["process.start"]({ command: "sleep 30" }, caller(chat));
    const unknown = "33333333-3333-4333-8333-333333333333";
    const fault = async (target: string, signal: string | undefined, chatId?: string) => {
      const input = { id: target, ...(signal !== undefined && { signal }) };
      const error = await Promise.resolve()
        .then(() => operations["process.signal"](input, caller(chatId)))
        .catch((e: unknown) => e);
      return (error as Error).message;
    };
    expect(await fault(id, undefined, other)).toBe(`Process "${id}" not found.`);
    expect(await fault(unknown, undefined)).toBe("Signal is required.");
    expect(await fault(unknown, "bogus")).toBe('Unsupported signal "bogus". Use "kill" or "terminate".');
    expect(await fault(unknown, "kill")).toBe(`Process "${unknown}" not found.`);
    const sent = await operations["process.signal"]({ id, signal: "kill" }, caller(chat));
    expect(sent).toMatchObject({ message: `Signal "kill" sent to process "${id}".` });
    await operations["process.stop"]({ id }, caller(chat));
    expect(await fault(id, "kill", chat)).toBe(`Process "${id}" is not running.`);
  });

  test("write to stdin once per write_id and close it", async () => {
    const { id } = await operations["process.start"]({ command: "cat", stdin: { open: true } }, caller());
    expect(await operations["process.stdin"]({ id, data: "a\n", write_id: "1" }, caller())).toEqual({
      written: 2,
      duplicate: false,
    });
    expect(await operations["process.stdin"]({ id, data: "a\n", write_id: "1" }, caller())).toMatchObject({
      duplicate: true,
    });
    await operations["process.stdin"]({ id, data: "Yg==", encoding: "base64", close: true }, caller());
    expect(await operations["process.output"]({ id, wait: "true" }, caller())).toMatchObject({
      output: "a\nb",
      exit_code: 0,
    });
    await expect(async () => operations["process.stdin"]({ id, data: "x" }, caller())).rejects.toMatchObject({
      code: "process/no-stdin",
    });
  });

  test("attach to a terminal: replay, its end, live, the exit", async () => {
    const { id } = await operations["process.start"]({ command: "echo one; read x; echo got $x", tty: true }, caller());
    await until("it wrote", async () => (await operations["process.output"]({ id }, caller())).output.includes("one"));
    const attachment = await operations["process.attach"]({ id }, caller());
    const kinds: string[] = [];
    let text = "";
    for await (const item of attachment.output) {
      if (item instanceof Uint8Array) text += Buffer.from(item).toString();
      else kinds.push(item.type);
      if (kinds.length === 1 && !text.includes("two")) await attachment.write(Buffer.from("two\n"));
    }
    attachment.close();
    expect(text).toContain("got two");
    expect(kinds).toEqual(["replay_end", "exit"]);
    expect(await operations["process.get"]({ id }, caller())).toMatchObject({
      tty: true,
      cols: 80,
      rows: 24,
      streams: "tty",
    });
  });

  test("stream events from history on, live, and of the own chat only", async () => {
    const aborter = new AbortController();
    await operations["process.start"]({ command: "true" }, caller(other));
    const { id } = await operations["process.start"]({ command: "true", wait: { for: { exit: true } } }, caller(chat));
    const types: string[] = [];
    for await (const message of operations["events.stream"]({ after: 0 }, caller(chat, aborter.signal))) {
      types.push(message.event);
      expect(message).toMatchObject({ data: { process_id: id, chat_id: chat } });
      if (message.event === "process.ended") aborter.abort();
    }
    expect(types).toEqual(["process.started", "process.exited", "process.ended"]);
    expect(() => operations["events.stream"]({ type: "nonsense" }, caller())).toThrow("nonsense");
  });

  test("stream output with the bytes to resume at", async () => {
    const { id } = await operations["process.start"]({ command: "echo hello" }, caller());
    const seen: string[] = [];
    for await (const { event, id: at } of operations["process.stream"]({ id }, caller())) seen.push(`${event}@${at}`);
    expect(seen).toEqual(["output@6", "exit@6", "end@6"]);
  });

  test("measure", async () => {
    await operations["process.start"]({ command: "true", wait: { for: { exit: true } } }, caller());
    const text = await operations["daemon.metrics"]({}, caller());
    expect(text).toContain("drover_processes_started_total 1\n");
    expect(text).toContain("# TYPE drover_processes_running gauge");
    expect(await operations["daemon.status"]({}, caller())).toMatchObject({ exited: 1, running: 0, url: "u" });
  });
});
