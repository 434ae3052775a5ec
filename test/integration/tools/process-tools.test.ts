import { describe, expect, test } from "vitest";
import { caller } from "../../support/home.ts";
import { program } from "../../support/real-daemon.ts";
import { useTools } from "./tool-home.ts";

const tools = useTools();
const chat = "11111111-1111-4111-8111-111111111111";
const other = "22222222-2222-4222-8222-222222222222";

describe("output", () => {
  // Promise: model-ready
  test("pain P20: the end is shown, and each hole is fetched by the call that the result names", async () => {
    const command = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo FAILED at the very end";
    const result = await tools.call("execute", { command, timeout: "30s", max_output_bytes: 4096 });
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(4096);
    expect(result.output.startsWith("line 0\n")).toBe(true);
    expect(result.output.endsWith("FAILED at the very end\n")).toBe(true);
    const [hole] = result.omitted;
    expect(result.omitted).toHaveLength(1);
    expect(result.truncated.omitted_bytes).toBe(hole.to - hole.from);
    const [tool, ...json] = hole.fetch.split(" ");
    let at = hole.from;
    let text = "";
    while (at < hole.to) {
      const given = { ...JSON.parse(json.join(" ")), from: at, to: Math.min(hole.to, at + 100_000) };
      const part = await tools.call(tool, { ...given, max_output_bytes: 262_144 });
      expect(part).not.toHaveProperty("omitted");
      text += part.output;
      at = given.to;
    }
    const whole = result.output.replace(/\n\n\.\.\. \[omitted \d+ bytes\] \.\.\.\n\n/, () => text);
    const raw = tools.operations["process.log.bytes"]({ id: result.process_id }, caller());
    expect(whole).toBe(Buffer.from((await raw).data).toString());
  });

  test("a line that was cut is fetched by the range in its mark", async () => {
    const command = `head -c 300000 /dev/zero | tr '\\0' x; echo; for i in $(seq 3000); do echo line $i; done`;
    const result = await tools.call("execute", { command, timeout: "30s" });
    expect(result.truncated.cut_lines).toBe(1);
    const [, from, to] = /\[cut \d+ bytes: from (\d+) to (\d+)\]/.exec(result.output) ?? [];
    const range = { from: Number(from), to: Number(from) + 1_000 };
    const part = await tools.call("process_output", { process_id: result.process_id, ...range });
    expect(part.output).toBe("x".repeat(1_000));
    expect(Number(to)).toBeGreaterThan(290_000 / 8);
  });

  test("pain P7: progress bars and colours are rendered away", async () => {
    const result = await tools.call("execute", { command: `${program("progress-bar")} 200 1`, timeout: "20s" });
    for (const control of ["\r", "\u001b"]) expect(result.output).not.toContain(control);
    expect(result.output.length).toBeLessThan(1_000);
    expect(result).not.toHaveProperty("omitted");
  });

  test("pain P5: a fast command's whole output is there at once", async () => {
    for (let i = 0; i < 20; i++) {
      const result = await tools.call("execute", { command: `echo ${i}` });
      expect(result).toMatchObject({ exit_code: 0, output: `${i}\n` });
    }
  });

  test("a running process is reported without an exit code, and `next` shows only what is new", async () => {
    const { process_id } = await tools.call("execute", { command: "echo a; read x; echo b", interactive: true });
    const first = await tools.call("process_output", { process_id, wait_timeout: "0s" });
    expect(first).toMatchObject({
      success: true,
      running: true,
      note: "process is still running",
      output: "a\n",
      next: 2,
    });
    expect(first).toMatchObject({ command: "echo a; read x; echo b", waiting: { kind: "waiting_line" } });
    expect(first).not.toHaveProperty("exit_code");
    await tools.call("process_input", { process_id, text: "" });
    expect(await tools.call("process_output", { process_id, from: 2 })).toMatchObject({ output: "b\n", exit_code: 0 });
  });

  test("a range that lies wrongly is refused", async () => {
    const { process_id } = await tools.call("execute", { command: "echo a" });
    await expect(tools.call("process_output", { process_id, from: 5, to: 2 })).rejects.toMatchObject({
      code: "tool/bad-arguments",
    });
    expect(await tools.call("process_output", { process_id, from: 99, to: 100 })).not.toHaveProperty("output");
  });
});

describe("process_wait", () => {
  test("pain P4: one call waits for a line, also for one that was printed before", async () => {
    const { process_id } = await tools.call("execute", { command: "echo ready; sleep 30", run_in_background: true });
    const found = await tools.call("process_wait", { process_id, for: { match: "rea.y" } });
    expect(found).toMatchObject({ success: true, fired: "match", match: { text: "ready", from: 0, to: 5 } });
    const again = await tools.call("process_wait", { process_id, for: { match: "ready" }, from: 6, timeout: "200ms" });
    expect(again).toMatchObject({ success: false, fired: "timeout", running: true });
    expect(again.note).toContain(`process_wait {"process_id":"${process_id}","for":{"match":"ready"},"from":6`);
    const idle = await tools.call("process_wait", { process_id, for: { idle: "100ms" } });
    expect(idle).toMatchObject({ success: true, fired: "idle" });
  });

  test("a bad pattern, address or duration starts no wait", async () => {
    const { process_id } = await tools.call("execute", { command: "sleep 30", run_in_background: true });
    const wait = (conditions: object) => tools.call("process_wait", { process_id, for: conditions });
    expect(await wait({ match: "(" })).toMatchObject({ success: false, error: expect.any(String) });
    await expect(wait({ idle: "soon" })).rejects.toMatchObject({ code: "tool/bad-arguments" });
    await expect(wait({ port: 70_000 })).rejects.toMatchObject({ code: "tool/bad-arguments" });
    await expect(wait({ activity: "dancing" })).rejects.toMatchObject({ code: "tool/bad-arguments" });
  });

  test("a caller that goes away ends the wait and not the process", async () => {
    const { process_id } = await tools.call("execute", { command: "sleep 30", run_in_background: true });
    const gone = new AbortController();
    const wait = tools.call("process_wait", { process_id }, caller(undefined, gone.signal));
    setTimeout(() => gone.abort(), 50);
    await expect(wait).rejects.toThrow();
    expect(await tools.call("process_output", { process_id, wait_timeout: "0s" })).toMatchObject({ running: true });
  });
});

describe("names of processes", () => {
  test("pain P14: prefixes and labels are understood; an unknown one is answered with those that run", async () => {
    const web = await tools.call("execute", { command: "sleep 30", label: "web", run_in_background: true });
    const id: string = web.process_id;
    for (const name of [id, id.toUpperCase(), id.slice(0, 8), "web"]) {
      expect(await tools.call("process_output", { process_id: name, wait_timeout: "0s" })).toMatchObject({
        process_id: id,
      });
    }
    const lost = await tools.call("process_output", { process_id: "wep" });
    expect(lost).toEqual({ success: false, error: expect.stringContaining('Did you mean "web"?') });
    expect(lost.error).toContain(`${id} (label web): sleep 30`);
    const second = await tools.call("execute", { command: "sleep 31", label: "web", run_in_background: true });
    const several = await tools.call("process_stop", { process_id: "web" });
    expect(several).toMatchObject({ success: false, error: expect.stringContaining(second.process_id) });
    await tools.call("process_stop", { process_id: id });
    expect(await tools.call("process_stop", { process_id: "web" })).toMatchObject({ process_id: second.process_id });
  });

  test("pain P13: another chat's processes have no name here", async () => {
    const mine = await tools.call(
      "execute",
      { command: "sleep 30", label: "web", run_in_background: true },
      caller(chat),
    );
    const by = caller(other);
    for (const process_id of [mine.process_id, mine.process_id.slice(0, 8), "web"]) {
      const result = await tools.call("process_output", { process_id }, by);
      expect(result).toEqual({ success: false, error: expect.stringContaining("Nothing is running.") });
    }
    expect(await tools.call("process_list", {}, by)).toEqual({ processes: [] });
  });
});

describe("ending and searching", () => {
  test("signals, stops and says what was ended", async () => {
    const { process_id } = await tools.call("execute", { command: "sleep 30 & sleep 31", run_in_background: true });
    const sent = await tools.call("process_signal", { process_id, signal: "CONT" });
    expect(sent).toMatchObject({ success: true, message: `Signal "CONT" sent to process "${process_id}".` });
    const odd = await tools.call("process_signal", { process_id, signal: "nonsense" });
    expect(odd).toMatchObject({ success: false, error: expect.stringContaining('Use "kill" or "terminate"') });
    const stopped = await tools.call("process_stop", { process_id, grace: "1s" });
    expect(stopped).toMatchObject({ success: true, exit_code: -1, reason: "stopped" });
    expect(stopped.ended.map((p: { command: string }) => p.command)).toEqual(
      expect.arrayContaining(["sleep 30", "sleep 31"]),
    );
    const late = await tools.call("process_signal", { process_id, signal: "terminate" });
    expect(late).toMatchObject({ success: false, error: expect.stringContaining("not running") });
    await expect(tools.call("process_stop", { process_id, grace: "2m" })).rejects.toThrow("over the bound of 40s");
  });

  test("finds lines, also in what was omitted, and goes on where it stopped", async () => {
    const command = "for i in $(seq 20000); do echo line $i; done";
    const { process_id } = await tools.call("execute", { command, timeout: "30s", max_output_bytes: 1024 });
    const found = await tools.call("process_search", { process_id, query: "line 1000", context: 1 });
    expect(found.matches[0]).toMatchObject({ line: "line 1000", before: ["line 999"], after: ["line 1001"] });
    const first = await tools.call("process_search", { process_id, query: "^line 1\\d$", regex: true, limit: 4 });
    const rest = await tools.call("process_search", {
      process_id,
      query: "^line 1\\d$",
      regex: true,
      from: first.next,
    });
    const lines = [...first.matches, ...rest.matches].map(({ line }) => line);
    expect(lines).toEqual(Array.from({ length: 10 }, (_, i) => `line ${10 + i}`));
    expect(await tools.call("process_search", { process_id, query: "(", regex: true })).toMatchObject({
      success: false,
    });
  });

  test("a search stays within its budget", async () => {
    const command = "for i in $(seq 200); do printf '%01000d match\\n' $i; done";
    const { process_id } = await tools.call("execute", { command, timeout: "30s" });
    const seen: number[] = [];
    for (let from: number | undefined = 0; from !== undefined; ) {
      const found = await tools.call("process_search", { process_id, query: "match", from, limit: 1000 });
      expect(JSON.stringify(found).length).toBeLessThan(20_000);
      seen.push(...found.matches.map((m: { from: number }) => m.from));
      from = found.next;
    }
    expect(seen).toHaveLength(200);
    expect(new Set(seen).size).toBe(200);
  });
});

test("ranges of the log are what the log API says they are", async () => {
  const { process_id } = await tools.call("execute", { command: "seq 5000", timeout: "30s", max_output_bytes: 2048 });
  const result = await tools.call("process_output", { process_id, max_output_bytes: 2048 });
  const { data } = await tools.operations["process.log.bytes"]({ id: process_id }, caller());
  const [{ from, to }] = result.omitted;
  const text = Buffer.from(data);
  expect(result.output).toBe(
    `${text.toString("utf8", 0, from)}\n\n... [omitted ${to - from} bytes] ...\n\n${text.toString("utf8", to)}`,
  );
});
