import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { ChatId } from "../../../src/contract/index.ts";
import { fileOperations } from "../../../src/operations/files.ts";
import type { Rooms } from "../../../src/operations/index.ts";
import type { Client } from "../../../src/sdk/index.ts";
import { TOKEN } from "../../support/http-door.ts";
import { makeDirectory, type OpenDoor, openDoor } from "../../support/http-listener.ts";
import { until } from "../native/home.ts";

const MIB = 1 << 20;
const chat = "11111111-1111-4111-8111-111111111111";

function openFiles(paths?: Rooms["paths"]): Promise<OpenDoor> {
  return openDoor(fileOperations({ ...(paths && { paths }) } as Rooms));
}

const at = (route: string, path: string) => `/api/v0/${route}?path=${encodeURIComponent(path)}`;
function get(door: OpenDoor, path: string, method = "GET"): Promise<Response> {
  return fetch(door.listening.url + path, { method, headers: { authorization: `Bearer ${TOKEN}` } });
}
/** A request by hand, to break it off where one likes. */
function raw(door: OpenDoor, head: string): Socket {
  const socket = connect(door.listening.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(`${head} HTTP/1.1\r\nHost: 127.0.0.1:${door.listening.port}\r\nAuthorization: Bearer ${TOKEN}\r\n`);
  return socket;
}
const openDescriptors = () => readdirSync("/proc/self/fd").length;

async function* pieces(count: number, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield randomBytes(size);
}

describe("files over HTTP", () => {
  test("100 MB go in and out as a stream, over both doors, in bounded memory", async () => {
    const door = await openFiles();
    const path = join(makeDirectory(), "large.bin");
    for (const client of [door.overTcp, door.overUnix]) {
      const before = process.memoryUsage.rss();
      let peak = 0;
      const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss() - before)), 5);
      const sent = createHash("sha256");
      async function* counted() {
        for await (const piece of pieces(100, MIB)) {
          sent.update(piece);
          yield piece;
        }
      }
      expect(await client.files.write({ path }, counted())).toMatchObject({ bytes: 100 * MIB });
      const file = await client.files.read({ path });
      expect(file.size).toBe(100 * MIB);
      const got = createHash("sha256");
      for await (const chunk of file.chunks()) got.update(chunk);
      clearInterval(watch);
      expect(got.digest("hex")).toBe(sent.digest("hex"));
      // Both ends and the test itself are in this process; the file is 100 MiB.
      expect(peak).toBeLessThan(80 * MIB);
    }
  });

  test("a reader that stops reading costs a bounded buffer, and its file is closed when it hangs up", async () => {
    const door = await openFiles();
    const path = join(makeDirectory(), "large.bin");
    writeFileSync(path, Buffer.alloc(64 * MIB));
    const descriptors = openDescriptors();
    const before = process.memoryUsage().arrayBuffers;
    const sockets = Array.from({ length: 10 }, () => {
      const socket = raw(door, `GET ${at("read-file", path)}`);
      socket.write("\r\n");
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, "readable")));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * MIB);
    for (const socket of sockets) socket.destroy();
    await until(() => openDescriptors() <= descriptors);
  });

  test("a range has the right headers; HEAD has no body and leaves nothing open", async () => {
    const door = await openFiles();
    const path = join(makeDirectory(), "ä b.txt");
    writeFileSync(path, "0123456789");
    const descriptors = openDescriptors();
    const part = await get(door, `${at("read-file", path)}&offset=2&limit=3`);
    expect(Object.fromEntries(part.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "3",
      "drover-file-size": "10",
      "x-content-type-options": "nosniff",
    });
    expect(await part.text()).toBe("234");
    const head = await get(door, at("read-file", path), "HEAD");
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "10", ""]);
    writeFileSync(path, "");
    expect(await (await get(door, at("read-file", path))).text()).toBe("");
    expect(openDescriptors()).toBeLessThanOrEqual(descriptors + 2);
  });

  test("a file that shrinks while it is sent breaks the connection instead of lying", async () => {
    const door = await openFiles();
    const path = join(makeDirectory(), "f");
    writeFileSync(path, Buffer.alloc(64 * MIB));
    const response = await get(door, at("read-file", path));
    const reader = response.body?.getReader();
    await reader?.read();
    truncateSync(path, 1);
    await expect(
      (async () => {
        while (!(await reader?.read())?.done);
      })(),
    ).rejects.toThrow();
  });

  test("an upload that breaks off changes nothing and leaves nothing", async () => {
    const door = await openFiles();
    const folder = makeDirectory();
    writeFileSync(join(folder, "f"), "old");
    for (const length of ["Content-Length: 1000000", "Transfer-Encoding: chunked"]) {
      const socket = raw(door, `POST ${at("write-file", join(folder, "f"))}`);
      socket.write(`${length}\r\n\r\n`);
      socket.write(length.startsWith("T") ? "5\r\nhello\r\n" : "hello");
      await until(() => readdirSync(folder).length === 2);
      socket.destroy();
      await until(() => readdirSync(folder).length === 1);
      expect(readFileSync(join(folder, "f"), "utf8")).toBe("old");
    }
  });

  test("an upload under way when the daemon closes changes nothing", async () => {
    const door = await openFiles();
    const folder = makeDirectory();
    const socket = raw(door, `POST ${at("write-file", join(folder, "f"))}`);
    socket.write("Content-Length: 1000000\r\n\r\nhello");
    await until(() => readdirSync(folder).length === 1);
    await door.listening.close();
    await until(() => readdirSync(folder).length === 0);
    socket.destroy();
  });

  test("an upload that is refused is answered, though its body is large", async () => {
    const { overTcp, overUnix } = await openFiles();
    for (const client of [overTcp, overUnix] satisfies Client[]) {
      await expect(client.files.write({ path: "relative" }, Buffer.alloc(MIB))).rejects.toMatchObject({
        code: "file/bad-path",
      });
    }
  });

  test("what a chat writes and edits is told, with its ancestors; without a chat nothing is", async () => {
    const add = vi.fn();
    const door = await openFiles({ add } as unknown as NonNullable<Rooms["paths"]>);
    const path = join(makeDirectory(), "f");
    await door.overTcp.files.write({ path }, "one");
    expect(add).not.toHaveBeenCalled();
    const parent = "22222222-2222-4222-8222-222222222222" as ChatId;
    const headers = { "Coder-Chat-Id": chat, "Coder-Ancestor-Chat-Ids": JSON.stringify([parent]) };
    await door.overTcp.files.write({ path }, "one", { headers });
    const files = [{ path, edits: [{ search: "one", replace: "two" }] }];
    await door.overTcp.files.edit({ files }, { headers });
    await expect(door.overTcp.files.edit({ files }, { headers })).rejects.toMatchObject({ code: "file/no-match" });
    expect(add.mock.calls).toEqual([
      [chat, [parent], path],
      [chat, [parent], path],
    ]);
    expect(statSync(path).size).toBe(3);
  });
});
