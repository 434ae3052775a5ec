import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { RealDaemon } from "../support/real-daemon.ts";

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

const type = (id: string, data: string) => daemon.process("POST", `${id}/stdin`, { data });
const screen = async (id: string): Promise<string> => (await daemon.process("GET", `${id}/log?view=screen`)).body.data;
const end = (id: string) => daemon.process("POST", `${id}/stop`, { signals: [{ signal: "KILL" }] });

describe("a terminal through the API", () => {
  test("runs an interpreter", async () => {
    const id = await daemon.started({ argv: ["python3", "-i", "-q"], tty: true, cols: 80, rows: 24 });
    await expect.poll(() => screen(id), { timeout: 15_000 }).toContain(">>>");
    await type(id, "print(6 * 7)\n");
    await expect.poll(() => screen(id), { timeout: 15_000 }).toMatch(/^42$/m);
    await type(id, "exit(5)\n");
    expect((await daemon.process("GET", `${id}/output?wait=true`)).body.exit_code).toBe(5);
  });

  test("runs a full-screen editor and follows a resize", async () => {
    const editor = (
      await daemon.process("POST", "start", { command: "command -v vim || command -v vim.tiny", wait: {} })
    ).body.wait.output.trim();
    const id = await daemon.started({ argv: [editor, "-u", "NONE"], tty: true, cols: 80, rows: 24 });
    await expect.poll(() => screen(id), { timeout: 15_000 }).toContain("~");
    await type(id, "ihello world\u001b");
    await expect.poll(() => screen(id), { timeout: 15_000 }).toContain("hello world");
    await daemon.process("POST", `${id}/resize`, { cols: 60, rows: 10 });
    await expect
      .poll(async () => (await screen(id)).split("\n").filter((l) => l.startsWith("~")).length, { timeout: 15_000 })
      .toBe(8);
    await type(id, ":q!\r");
    expect((await daemon.process("GET", `${id}/output?wait=true`)).body.exit_code).toBe(0);
  });

  test("runs top", async () => {
    const id = await daemon.started({ argv: ["top"], tty: true, cols: 100, rows: 30 });
    await expect.poll(() => screen(id), { timeout: 15_000 }).toContain("PID");
    await type(id, "q");
    expect((await daemon.process("GET", `${id}/output?wait=true`)).body.exit_code).toBe(0);
  });

  test("is gone with its process (pain P19)", async () => {
    const id = await daemon.started({ command: "tty", tty: true });
    const { body } = await daemon.process("GET", `${id}/output?wait=true`);
    expect(body.output).toMatch(/^\/dev\/pts\/\d+/);
  });
});

describe("attach", () => {
  interface Seen {
    bytes: string;
    control: { type: string }[];
  }
  function attach(id: string, query = ""): { socket: WebSocket; seen: Seen; opened: Promise<unknown> } {
    const url = `${daemon.url.replace("http", "ws")}/api/v0/processes/${id}/attach${query}`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${daemon.token}` } });
    const seen: Seen = { bytes: "", control: [] };
    socket.on("message", (data: Buffer, binary) => {
      if (binary) seen.bytes += data.toString();
      else seen.control.push(JSON.parse(data.toString()));
    });
    return { socket, seen, opened: new Promise((done, fail) => socket.on("open", done).on("error", fail)) };
  }

  test("replays, then goes on live, for several viewers, in both directions", async () => {
    const id = await daemon.started({ command: "echo before; cat", tty: true });
    await expect.poll(() => screen(id)).toContain("before");
    const one = attach(id);
    const two = attach(id, "?readonly=true");
    await Promise.all([one.opened, two.opened]);
    for (const each of [one, two])
      await expect.poll(() => each.seen.control.some((c) => c.type === "replay_end")).toBe(true);
    expect(one.seen.bytes).toContain("before");
    one.socket.send(Buffer.from("typed by one\n"));
    for (const each of [one, two]) await expect.poll(() => each.seen.bytes.split("typed by one").length).toBe(3);
    two.socket.send(Buffer.from("refused\n"));
    one.socket.send(JSON.stringify({ type: "resize", cols: 91, rows: 31 }));
    await expect.poll(async () => (await daemon.process("GET", id)).body.cols).toBe(91);
    one.socket.send(Buffer.from("\u0004"));
    for (const each of [one, two])
      await expect.poll(() => each.seen.control.find((c) => c.type === "exit")).toMatchObject({ exit_code: 0 });
    expect(one.seen.bytes).not.toContain("refused");
    one.socket.close();
    two.socket.close();
  });

  test("a viewer that goes leaves the process alone", async () => {
    const id = await daemon.started({ command: "cat", tty: true });
    const viewer = attach(id);
    await viewer.opened;
    viewer.socket.terminate();
    await new Promise((done) => setTimeout(done, 200));
    expect((await daemon.process("GET", id)).body.state).toBe("running");
    await end(id);
  });
});
