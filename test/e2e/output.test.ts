import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { program, RealDaemon } from "../support/real-daemon.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

async function raw(id: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 0; ; ) {
    const response = await fetch(`${daemon.url}/api/v0/processes/${id}/log?view=raw&from=${from}`, {
      headers: { authorization: `Bearer ${daemon.token}`, accept: "application/octet-stream" },
    });
    parts.push(Buffer.from(await response.arrayBuffer()));
    from = Number(response.headers.get("drover-log-next"));
    if (from >= Number(response.headers.get("drover-log-end"))) return Buffer.concat(parts);
  }
}

describe("raw output", () => {
  // Promise: all-bytes
  test.each([
    ["prints-binary", []],
    ["splits-utf8", []],
    ["long-lines", []],
    ["progress-bar", ["50", "1"]],
    ["writes-both", ["500"]],
    ["prints-bytes", ["3000001"]],
  ])("pain P5: of %s is kept byte for byte", async (name, args) => {
    const argv = [program(name), ...args];
    const expected = execFileSync("sh", ["-c", '"$@" 2>&1', "sh", ...argv], { maxBuffer: 1 << 28 });
    const start = await daemon.process("POST", "start", { argv, wait: { timeout_ms: 60_000 } });
    expect(start.body.wait.fired).toBe("exit");
    expect((await raw(start.body.id)).equals(expected)).toBe(true);
  });

  test("pain S16: is not in the database", async () => {
    const id = await daemon.started({ command: "echo a-very-special-$((40+2))-word" });
    await daemon.process("GET", `${id}/output?wait=true`);
    await new Promise((done) => setTimeout(done, 200));
    const found = execFileSync("sh", ["-c", `cat ${daemon.home}/drover.db* | grep -c a-very-special-42-word || true`], {
      encoding: "utf8",
    });
    expect(found.trim()).toBe("0");
  });
});

describe("text", () => {
  // Promise: model-ready
  test("pain P7: renders progress bars and ANSI away", async () => {
    const id = await daemon.started({ command: `${program("progress-bar")} 60 1; printf '\\033[31mred\\033[0m\\n'` });
    await daemon.process("GET", `${id}/output?wait=true`);
    const { body } = await daemon.process("GET", `${id}/log?view=text`);
    expect(body.data.split("\n").filter(Boolean)).toHaveLength(3);
    expect(body.data).toContain("100%");
    expect(body.data).toContain("\ndone\nred\n");
    expect(body.data).not.toContain("\u001b");
  });

  test("pain P21: characters split over writes are whole", async () => {
    const id = await daemon.started({ argv: [program("splits-utf8")] });
    const { body } = await daemon.process("GET", `${id}/output?wait=true`);
    expect(body.output).toBe("é€😀 äöü 漢字 done\n".repeat(2));
  });

  test("pain P20: the very end is always there, and the hole can be fetched", async () => {
    const id = await daemon.started({
      command: `${program("prints-bytes")} 400000; echo; echo FAILED: the last line; exit 1`,
    });
    const { body } = await daemon.process("GET", `${id}/output?wait=true`);
    expect(body.output.endsWith("FAILED: the last line\n")).toBe(true);
    const [hole] = body.truncated.omitted;
    const middle = await daemon.process("GET", `${id}/log?from=${hole[0]}&to=${hole[1]}`);
    expect(middle.body.from).toBe(hole[0]);
    expect(middle.body.data.startsWith(`${String(hole[0] / 16).padStart(15, "0")}\n`)).toBe(true);
    const search = await daemon.process("GET", `${id}/log/search?q=FAILED`);
    expect(search.body.matches).toMatchObject([{ line: "FAILED: the last line" }]);
  });

  test("split streams are told apart", async () => {
    const id = await daemon.started({ argv: [program("writes-both"), "50", "2"], streams: "split" });
    await daemon.process("GET", `${id}/output?wait=true`);
    const { body } = await daemon.process("GET", `${id}/log?stream=stderr`);
    expect(body.data).toBe(Array.from({ length: 50 }, (_, i) => `err ${i + 1}\n`).join(""));
  });
});

describe("a bounded log", () => {
  test("pain P6: keeps head and tail exactly, counts what was dropped, costs the daemon no memory", async () => {
    const bytes = 300_000_000;
    await daemon.started({ argv: [program("prints-bytes"), "1000"], wait: {} });
    const before = daemon.rssBytes();
    const start = await daemon.process("POST", "start", {
      argv: [program("prints-bytes"), String(bytes)],
      log_bytes: 16 << 20,
      wait: { timeout_ms: 120_000 },
    });
    expect(start.body.wait).toMatchObject({ fired: "exit", exit_code: 0 });
    expect(daemon.rssBytes() - before).toBeLessThan(16 << 20);
    const { body: info } = await daemon.process("GET", start.body.id);
    expect(info.log.end).toBe(bytes);
    expect(info.log.dropped).toHaveLength(1);
    const [from, to] = info.log.dropped[0];
    expect(info.log.kept_bytes).toBe(bytes - (to - from));
    expect(info.log.kept_bytes).toBeLessThan(20 << 20);
    const line = (offset: number) => `${String(Math.ceil(offset / 16)).padStart(15, "0")}\n`;
    for (const offset of [0, from - 1600, to, bytes - 1600]) {
      const { body } = await daemon.process("GET", `${start.body.id}/log?from=${offset}&limit=64`);
      expect(body.from, `at ${offset}`).toBe(offset);
      expect(body.data, `at ${offset}`).toContain(line(offset));
    }
    const gap = await daemon.process("GET", `${start.body.id}/log?from=${from + 5}&limit=64`);
    expect(gap.body).toMatchObject({ from: to, dropped: [[from, to]] });
  });
});
