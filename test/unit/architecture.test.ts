import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const src = join(root, "src");

/** Which rooms a room may import. The map of STYLE and ARCHITECTURE as data. */
const mayImport: Record<string, readonly string[]> = {
  contract: [],
  base: [],
  native: ["contract", "base"],
  store: ["contract", "base"],
  process: ["contract", "base", "native", "store"],
  tokens: ["contract", "base", "store"],
  files: ["contract", "base"],
  git: ["contract", "base"],
  tools: ["contract", "base"],
  operations: ["contract", "base", "native", "store", "process", "files", "git", "tokens", "tools"],
  http: ["contract", "base", "operations"],
  mcp: ["contract", "base", "tools"],
  daemon: ["contract", "base", "native", "store", "process", "operations", "http", "files", "git", "tokens", "mcp"],
  sdk: ["contract"],
  cli: ["contract", "base", "sdk", "native", "daemon", "mcp"],
};
/** Files of a room that other rooms may name. */
const doors = new Set(["index.ts", "schemas.ts"]);

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : path.endsWith(".ts") ? [path] : [];
  });
}

interface Arrow {
  from: string;
  to: string;
  line: string;
}

const arrows: Arrow[] = filesBelow(src).flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((m) => ({
    from: relative(src, file),
    to: relative(src, resolve(dirname(file), m[1] ?? "")),
    line: m[0],
  })),
);
const roomOf = (path: string) => path.split("/")[0] ?? "";

describe("architecture", () => {
  test("every room is on the map", () => {
    expect(readdirSync(src).toSorted()).toEqual(Object.keys(mayImport).toSorted());
  });

  test("a room imports only lower floors", () => {
    const wrong = arrows.filter(
      (a) => roomOf(a.from) !== roomOf(a.to) && !mayImport[roomOf(a.from)]?.includes(roomOf(a.to)),
    );
    expect(wrong).toEqual([]);
  });

  test("other rooms are entered by their door", () => {
    const wrong = arrows.filter(
      (a) => roomOf(a.from) !== roomOf(a.to) && !doors.has(a.to.split("/").slice(1).join("/")),
    );
    expect(wrong).toEqual([]);
  });

  test("the client loads no schema library", () => {
    const wrong = arrows.filter((a) => ["sdk", "cli"].includes(roomOf(a.from)) && a.to === "contract/schemas.ts");
    expect(wrong).toEqual([]);
    for (const file of filesBelow(join(src, "sdk"))) expect(readFileSync(file, "utf8")).not.toMatch(/from "zod"/);
  });

  test("every door begins with a design note", () => {
    for (const room of Object.keys(mayImport)) {
      const first = readFileSync(join(src, room, "index.ts"), "utf8").split("\n")[0];
      expect(first, `${room}/index.ts`).toMatch(new RegExp(`^// ${room}: `));
    }
  });
});
