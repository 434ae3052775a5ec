import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { FileLookup } from "../../../src/process/lookup.ts";

let root = "";
afterEach(() => rmSync(root, { recursive: true, force: true }));

function open() {
  root = mkdtempSync(join(tmpdir(), "drover-lookup-"));
  for (const name of ["a", "b"]) mkdirSync(join(root, name));
  const time = { now: 0 };
  const clock = { now: () => time.now, after: () => () => undefined };
  return { lookup: new FileLookup(clock), time, path: `${root}/a:${root}/b` };
}

function put(place: string, mode: number): string {
  const file = join(root, place, "tool");
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, mode);
  return file;
}

test("a program is found as soon as it is there, and one before it on the PATH a second later", () => {
  const { lookup, time, path } = open();
  expect(lookup.search("tool", path, "/")).toBeUndefined();
  const second = put("b", 0o755);
  expect(lookup.search("tool", path, "/")).toBe(second);
  const first = put("a", 0o755);
  expect(lookup.search("tool", path, "/")).toBe(second);
  time.now = 1_000;
  expect(lookup.search("tool", path, "/")).toBe(first);
});

test("an executable wins over a plain file, which is named when there is nothing else", () => {
  const { lookup, path, time } = open();
  const plain = put("a", 0o644);
  expect(lookup.search("tool", path, "/")).toBe(plain);
  const program = put("b", 0o755);
  time.now = 1_000;
  expect(lookup.search("tool", path, "/")).toBe(program);
});
