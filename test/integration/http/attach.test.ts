import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { Fault } from "../../../src/contract/index.ts";
import type { AttachControl, Attachment } from "../../../src/operations/table.ts";
import type { Attached, AttachMessage } from "../../../src/sdk/index.ts";
import { TOKEN } from "../../support/http-door.ts";
import { type OpenDoor, openDoor } from "../../support/http-listener.ts";

const id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";

/** Echoes what is written, notes sizes, ends at the byte 4. */
function createEcho(readonly: boolean, sizes: string[] = []): Attachment & { closed: boolean } {
  const queue: (Uint8Array | AttachControl)[] = [{ type: "replay_end", cursor: 0 }];
  let wake = () => {};
  const state = { closed: false };
  const echo = {
    get closed() {
      return state.closed;
    },
    readonly,
    output: (async function* () {
      for (;;) {
        const item = queue.shift();
        if (item) yield item;
        else if (state.closed) return;
        else await new Promise<void>((resolve) => (wake = resolve));
        if (item instanceof Uint8Array && item[0] === 4) return;
      }
    })(),
    async write(data: Uint8Array) {
      queue.push(Uint8Array.from(data));
      wake();
    },
    async resize(cols: number, rows: number) {
      sizes.push(`${cols}x${rows}`);
    },
    close() {
      state.closed = true;
      wake();
    },
  };
  return echo;
}

async function take(attached: Attached, count: number): Promise<(string | AttachMessage)[]> {
  const items: (string | AttachMessage)[] = [];
  const iterator = attached.output[Symbol.asyncIterator]();
  while (items.length < count) {
    const { value, done } = await iterator.next();
    if (done) break;
    items.push(value instanceof Uint8Array ? Buffer.from(value).toString() : value);
  }
  return items;
}

test.each(["overTcp", "overUnix"] as const)(
  "bytes go both ways %s, messages beside them, and the end is told",
  async (way) => {
    const sizes: string[] = [];
    const inputs: unknown[] = [];
    const door = await openDoor({
      "process.attach": async (input) => {
        inputs.push(input);
        return createEcho(input.readonly === true, sizes);
      },
    });
    const attached = await door[way].processes.attach(id, { cursor: 5 });
    await attached.resize(120, 40);
    await attached.write("hello €");
    await attached.write(new Uint8Array([4]));
    expect(await take(attached, 9)).toEqual([{ type: "replay_end", cursor: 0 }, "hello €", "\x04"]);
    expect(inputs).toEqual([{ id, cursor: 5 }]);
    expect(sizes).toEqual(["120x40"]);
  },
);

test("a large write arrives whole and in order", async () => {
  const { overTcp } = await openDoor({ "process.attach": async () => createEcho(false) });
  const attached = await overTcp.processes.attach(id);
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i}\n`).join(""));
  await attached.write(sent);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const item of attached.output) {
    if (!(item instanceof Uint8Array)) continue;
    parts.push(item);
    size += item.length;
    if (size >= sent.length) break;
  }
  expect(Buffer.concat(parts).equals(sent)).toBe(true);
  attached.close();
});

test("a read-only viewer is told that its input goes nowhere", async () => {
  const { overUnix } = await openDoor({ "process.attach": async (input) => createEcho(input.readonly === true) });
  const attached = await overUnix.processes.attach(id, { readonly: true });
  await attached.write("rm -rf /");
  await attached.resize(1, 1);
  const [, first, second] = await take(attached, 3);
  expect(first).toMatchObject({ type: "error", code: "request/invalid" });
  expect(second).toMatchObject({ type: "error", code: "request/invalid" });
  attached.close();
});

test("a refusal is the fault of any other route", async () => {
  const door = await openDoor({
    "process.attach": async () => {
      throw new Fault("process/not-found", `Process "${id}" not found.`);
    },
  });
  for (const client of [door.overTcp, door.overUnix]) {
    await expect(client.processes.attach(id)).rejects.toMatchObject({ code: "process/not-found" });
  }
});

/** A bare WebSocket: what came, and how it ended. */
function dial(door: OpenDoor, o: { path?: string; protocols?: string[]; headers?: Record<string, string> } = {}) {
  const url = `${door.listening.url.replace("http", "ws")}${o.path ?? `/api/v0/processes/${id}/attach`}`;
  const socket = new WebSocket(url, o.protocols ?? [], { headers: o.headers ?? {}, perMessageDeflate: false });
  onTestFinished(() => socket.terminate());
  const texts: string[] = [];
  const ended = new Promise<string>((resolve) => {
    socket.on("unexpected-response", (_, response) => resolve(`refused ${response.statusCode}`));
    socket.on("close", (code) => resolve(`closed ${code}`));
    socket.on("error", () => undefined);
  });
  socket.on("message", (data: Buffer, isBinary) => isBinary || texts.push(data.toString()));
  const opened = new Promise<void>((resolve) => socket.on("open", () => resolve()));
  return { socket, texts, ended, opened };
}

const authorization = `Bearer ${TOKEN}`;

test("a browser shows its token as a subprotocol, which the answer does not repeat", async () => {
  const door = await openDoor({ "process.attach": async () => createEcho(false) });
  const { socket, opened } = dial(door, { protocols: ["drover", `drover.token.${TOKEN}`] });
  await opened;
  expect(socket.protocol).toBe("drover");
});

test.each<[string, { path?: string; headers?: Record<string, string> }, string]>([
  ["without a token", {}, "refused 401"],
  ["with a wrong token", { headers: { authorization: "Bearer no" } }, "refused 401"],
  ["of a foreign page", { headers: { authorization, origin: "https://evil.example" } }, "refused 403"],
  ["of a foreign host", { headers: { authorization, host: "evil.example" } }, "refused 403"],
  ["with a bad cursor", { headers: { authorization }, path: `/api/v0/processes/${id}/attach?cursor=x` }, "refused 400"],
  ["to an unknown path", { headers: { authorization }, path: "/nowhere" }, "refused 404"],
  ["to a route without WebSocket", { headers: { authorization }, path: "/healthz" }, "refused 400"],
])("a connection %s is refused", async (_, options, expected) => {
  const door = await openDoor({ "process.attach": async () => createEcho(false) });
  expect(await dial(door, options).ended).toBe(expected);
});

test("an unknown message is answered with an error, a bad size too, bad JSON closes", async () => {
  const echo = createEcho(false);
  const door = await openDoor({ "process.attach": async () => echo });
  const { socket, texts, ended, opened } = dial(door, { headers: { authorization } });
  await opened;
  socket.send('{"type":"dance"}');
  socket.send('{"type":"resize","cols":0,"rows":5}');
  await vi.waitFor(() => expect(texts.filter((t) => t.includes('"error"'))).toHaveLength(2));
  socket.send("{");
  expect(await ended).toBe("closed 1007");
  await vi.waitFor(() => expect(echo.closed).toBe(true));
});

test("a viewer that stops reading holds back the output, not the daemon's memory", async () => {
  let made = 0;
  const piece = Buffer.alloc(64 << 10, 7);
  let closed = false;
  const door = await openDoor({
    "process.attach": async () => ({
      output: (async function* () {
        while (!closed) {
          made += piece.length;
          yield piece;
          await new Promise(setImmediate);
        }
      })(),
      readonly: false,
      write: async () => {},
      resize: async () => {},
      close: () => {
        closed = true;
      },
    }),
  });
  const { socket, opened } = dial(door, { headers: { authorization } });
  await opened;
  socket.pause();
  let last = -1;
  while (last !== made) {
    last = made;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  // One megabyte of ours and what the kernel takes.
  expect(made).toBeLessThan(24 << 20);
  socket.terminate();
  await vi.waitFor(() => expect(closed).toBe(true));
});
