import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

function textsBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return textsBelow(path);
    return path.endsWith(".test.ts") ? [readFileSync(path, "utf8")] : [];
  });
}

test("every promise is cited by a test", () => {
  const promised = [...readFileSync(join(root, "docs/promises.md"), "utf8").matchAll(/^\| ([a-z-]+) \|/gm)]
    .map((m) => m[1] ?? "")
    .filter((id) => id !== "id");
  const cited = new Set(
    textsBelow(join(root, "test")).flatMap((t) => [...t.matchAll(/Promise: ([a-z-]+)/g)].map((m) => m[1])),
  );
  expect(promised.length).toBeGreaterThan(5);
  expect(promised.filter((id) => !cited.has(id))).toEqual([]);
});

test("every pain that is said to be solved has a test of its name", () => {
  const solved = [
    ...readFileSync(join(root, "docs/pains.md"), "utf8").matchAll(/^\| ([PS]\d+) \|.*\| solved \|/gm),
  ].map((m) => m[1] ?? "");
  const tests = textsBelow(join(root, "test")).join("\n");
  expect(solved.filter((id) => !new RegExp(`pain ${id}\\b`).test(tests))).toEqual([]);
});
