import { expect, test } from "vitest";
import { parseLoopback } from "../../../src/process/http-probe.ts";
import { parseListeners } from "../../../src/process/port-holder.ts";

test("listening sockets of a port are read from /proc/net/tcp", () => {
  const lines = [
    "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000000000000000 100 0 0 10 0",
    "   1: 0100007F:0BB8 0100007F:1234 01 00000000:00000000 00:00000000 00000000  1000        0 4243 1 0000000000000000 100 0 0 10 0",
    "   2: 00000000000000000000000001000000:0BB9 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0",
    "",
  ];
  expect(parseListeners(lines, 3000)).toEqual([{ uid: 1000, inode: 4242 }]);
  expect(parseListeners(lines, 3001)).toEqual([{ uid: 0, inode: 77 }]);
  expect(parseListeners(lines, 80)).toEqual([]);
});

test("only loopback addresses are asked", () => {
  for (const good of ["http://127.0.0.1:1/", "http://127.1/", "http://localhost:3000/x?y", "http://[::1]:80/"]) {
    expect(parseLoopback(good)).toBeInstanceOf(URL);
  }
  for (const bad of [
    "http://128.0.0.1/",
    "http://127.0.0.1.example.com/",
    "http://0.0.0.0/",
    "https://localhost/",
    "",
    "http://[::2]/",
  ]) {
    expect(() => parseLoopback(bad), bad).toThrow(expect.objectContaining({ code: "request/invalid" }));
  }
});
