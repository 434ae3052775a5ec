import { createHash, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ProcessId } from "../../../src/contract/index.ts";
import { encodeFrame, FrameReader } from "../../../src/native/frame.ts";
import { ControlConnection, LogFile, type ShimNotice } from "../../../src/native/index.ts";
import { fieldKeys, frameTypes, PROTOCOL_VERSION } from "../../../src/native/protocol.ts";
import { metaOf } from "../../unit/native/meta-of.ts";
import { NativeHome, until } from "./home.ts";

let at: NativeHome;
const open: ControlConnection[] = [];

async function connect(id: ProcessId): Promise<ControlConnection> {
  const connection = await ControlConnection.connect(at.dirs, id);
  open.push(connection);
  return connection;
}

beforeEach(async () => {
  // A deep home: the control socket's real path does not fit in the 108 bytes of a socket address.
  at = await NativeHome.open(`drover-${"deep-".repeat(20)}`);
});
afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  await at.close();
});

describe("a control connection", () => {
  it("answers with the status of a running process", async () => {
    const id = at.launch("echo hi; sleep 60", { stdin: "open" });
    const started = await at.hint(id, "started");
    const connection = await connect(id);
    const status = await until(async () => {
      const now = await connection.status();
      return now.end === 3 && now;
    });
    expect(status).toMatchObject({
      phase: "running",
      pid: started.pid,
      start: started.start,
      dropped: [],
      stdin: "open",
      warnings: [],
    });
    expect(status).not.toHaveProperty("code");
  });

  it("tells subscribers of growth and of the end", async () => {
    const id = at.launch("read line; echo $line; exit 5", { stdin: "open" });
    await at.hint(id, "started");
    const connection = await connect(id);
    const notices: ShimNotice[] = [];
    const others: ShimNotice[] = [];
    const other = (notice: ShimNotice) => others.push(notice);
    expect(await connection.subscribe((notice) => notices.push(notice))).toMatchObject({ end: 0 });
    await connection.subscribe(other);
    expect(await connection.writeStdin(Buffer.from("word\n"))).toEqual({ written: 5, duplicate: false });
    await until(() => notices.some((notice) => notice.ended));
    expect(notices.some((notice) => notice.grew && notice.end === 5)).toBe(true);
    expect(notices.find((notice) => notice.exited)).toMatchObject({ code: 5, signal: 0, children: 0 });
    expect(others.length).toBe(notices.length);
  });

  it("writes stdin longer than a frame in order, and the same write id only once", async () => {
    const data = randomBytes(900_000);
    const id = at.launch("sha256sum", { stdin: "open" });
    await at.hint(id, "started");
    const connection = await connect(id);
    const writeId = randomBytes(16);
    const [first] = await Promise.all([
      connection.writeStdin(data, { writeId }),
      connection.writeStdin(Buffer.from("behind it")),
    ]);
    expect(first).toEqual({ written: data.length, duplicate: false });
    expect(await connection.writeStdin(data, { writeId })).toEqual({ written: 0, duplicate: true });
    await connection.writeStdin(undefined, { close: true });
    await at.hint(id, "ended");
    const wanted = createHash("sha256").update(data).update("behind it").digest("hex");
    expect(at.dirs.readState(id)?.exit?.logEnd).toBe(wanted.length + 4);
    const log = LogFile.open(at.dirs, id);
    expect(log?.read(0, 64).data.toString()).toBe(wanted);
    log?.close();
  });

  it("refuses stdin that nobody takes", async () => {
    const none = at.launch("sleep 60");
    const full = at.launch("sleep 60", { stdin: "open" });
    await at.hint(none, "started");
    await at.hint(full, "started");
    await expect((await connect(none)).writeStdin(Buffer.from("x"))).rejects.toMatchObject({
      code: "process/no-stdin",
    });
    const connection = await connect(full);
    const writes = Array.from({ length: 8 }, () => connection.writeStdin(Buffer.alloc(200_000)));
    const refused = await Promise.race(
      writes.map((write) =>
        write.then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    );
    expect(refused).toMatchObject({ code: "process/stdin-full" });
    const rest = Promise.allSettled(writes);
    connection.close();
    await rest;
  });

  it("resizes a terminal and refuses what is none", async () => {
    const terminal = at.launch("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done", {
      tty: true,
      stdin: "open",
      cols: 80,
      rows: 24,
    });
    const plain = at.launch("sleep 60");
    await at.hint(terminal, "started");
    await at.hint(plain, "started");
    const connection = await connect(terminal);
    await until(async () => (await connection.status()).end > 0);
    await connection.resize(100, 30);
    expect(await connection.status()).toMatchObject({ cols: 100, rows: 30 });
    await at.hint(terminal, "exited");
    await expect((await connect(plain)).resize(1, 1)).rejects.toMatchObject({ code: "process/no-terminal" });
  });

  it("signals, and says who did it", async () => {
    const id = at.launch("sleep 60");
    await at.hint(id, "started");
    const connection = await connect(id);
    expect(await connection.signal(15, "group")).toBeGreaterThan(0);
    expect(await at.hint(id, "exited")).toMatchObject({ code: -1, signal: 15, reason: "signalled_by_user" });
    await until(async () => (await connection.status()).phase === "ended");
    await expect(connection.signal(15, "group")).rejects.toMatchObject({ code: "process/not-running" });
  });

  it("looks at the tree", async () => {
    const id = at.launch("sleep 61 & sleep 60; true");
    await at.hint(id, "started");
    const connection = await connect(id);
    const look = await until(async () => {
      const now = await connection.look({ tree: true, activity: true, ports: true, usage: true });
      return (
        now.tree.some((one) => one.command === "sleep 60") && now.tree.some((one) => one.command === "sleep 61") && now
      );
    });
    expect(look.tree).toHaveLength(3);
    expect(look.ports).toEqual([]);
    expect(look.usage?.rssBytes).toBeGreaterThan(0);
    expect(look.activity).toBeDefined();
    expect(look.tree[0]?.start).toBeGreaterThan(0);
  });

  it("stops everything and lists it", async () => {
    const id = at.launch("trap '' TERM; setsid sleep 61 & sleep 60; sleep 59; true");
    await at.hint(id, "started");
    const connection = await connect(id);
    await until(async () => (await connection.look({ tree: true })).tree.length === 3);
    const stopped = await connection.stop(
      [
        { signal: 15, waitMs: 300 },
        { signal: 9, waitMs: 0 },
      ],
      "stopped",
    );
    expect(stopped.left).toEqual([]);
    expect(stopped.ended.length).toBeGreaterThanOrEqual(3);
    expect(stopped).toMatchObject({ code: -1, signal: 9, reason: "stopped" });
    expect(stopped.ended.map((one) => one.by)).toContain(9);
  });

  it("rejects what is pending when the shim dies", async () => {
    const id = at.launch("sleep 60", { stdin: "open" });
    await at.hint(id, "started");
    const connection = await connect(id);
    const writes = Promise.allSettled([
      connection.writeStdin(Buffer.alloc(250_000)),
      connection.writeStdin(Buffer.alloc(9)),
    ]);
    const { shimPid } = await connection.status();
    process.kill(shimPid, "SIGKILL");
    await connection.closed;
    for (const write of await writes)
      expect(write).toMatchObject({ status: "rejected", reason: { code: "process/unreachable" } });
    await expect(connection.status()).rejects.toMatchObject({ code: "process/unreachable" });
    await expect(ControlConnection.connect(at.dirs, id)).rejects.toMatchObject({ code: "process/unreachable" });
  });

  it("to a process that never was is unreachable", async () => {
    await expect(ControlConnection.connect(at.dirs, metaOf().id)).rejects.toMatchObject({
      code: "process/unreachable",
    });
  });
});

describe("a control connection to a strange shim", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function strange(answer: (socket: Socket, id: ProcessId, tag: number) => void): Promise<ProcessId> {
    const { id } = metaOf();
    mkdirSync(at.dirs.path(id));
    server = createServer((socket) => {
      const reader = new FrameReader();
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        for (const frame of reader.push(chunk)) answer(socket, id, frame.tag);
      });
    });
    await new Promise<void>((done) => server?.listen(at.dirs.controlPath(id), done));
    return id;
  }
  const hello = (id: string, tag: number, version = PROTOCOL_VERSION) =>
    encodeFrame(frameTypes.helloOk, tag, [
      [fieldKeys.version, version],
      [fieldKeys.id, id],
    ]);

  it("refuses a version that is not known here", async () => {
    const id = await strange((socket, self, tag) => socket.write(hello(self, tag, PROTOCOL_VERSION + 1)));
    await expect(connect(id)).rejects.toMatchObject({ code: "process/unreachable" });
  });

  it("refuses the socket of another process", async () => {
    const id = await strange((socket, _self, tag) => socket.write(hello(metaOf().id, tag)));
    await expect(connect(id)).rejects.toMatchObject({ code: "process/unreachable" });
  });

  it("gives up on garbage", async () => {
    const id = await strange((socket) => socket.write(Buffer.alloc(64, 0xff)));
    await expect(connect(id)).rejects.toMatchObject({ code: "process/unreachable" });
  });

  it("skips frames that it does not know, and takes frames byte by byte", async () => {
    const id = await strange((socket, self, tag) => {
      const bytes = Buffer.concat([encodeFrame(0x777, tag, []), encodeFrame(0x778, 99, [[1, "x"]]), hello(self, tag)]);
      for (const byte of bytes) socket.write(Buffer.of(byte));
    });
    await connect(id);
  });
});
