import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockHome } from "../../../src/store/index.ts";
import { temporaryHome } from "../native/home.ts";

let home: string;
let remove: () => void;

beforeEach(() => {
  ({ home, remove } = temporaryHome());
});
afterEach(() => remove());

const held = expect.objectContaining({ code: "daemon/already-running" });

describe("the lock of a home", () => {
  it("is held by one, and free again when it is closed", () => {
    const first = lockHome(home);
    expect(() => lockHome(home)).toThrow(held);
    expect(() => lockHome(home)).toThrow(held);
    first.close();
    lockHome(home).close();
    expect(statSync(join(home, "lock")).mode & 0o777).toBe(0o600);
  });

  it("names the daemon that holds it", () => {
    const first = lockHome(home);
    writeFileSync(join(home, "daemon.json"), JSON.stringify({ pid: 4711, url: "http://127.0.0.1:7333" }));
    expect(() => lockHome(home)).toThrow(
      expect.objectContaining({ data: { pid: 4711, url: "http://127.0.0.1:7333" } }),
    );
    writeFileSync(join(home, "daemon.json"), "null");
    expect(() => lockHome(home)).toThrow(held);
    first.close();
  });

  it("is held across processes and dies with its holder", async () => {
    const holder = await holdInChild(join(home, "lock"));
    expect(() => lockHome(home)).toThrow(held);
    const gone = once(holder, "exit");
    holder.kill("SIGKILL");
    await gone;
    lockHome(home).close();
  });

  it("cannot be had where the home is missing", () => {
    expect(() => lockHome(join(home, "missing"))).toThrow(expect.objectContaining({ code: "daemon/home-unusable" }));
  });
});

async function holdInChild(path: string): Promise<ChildProcess> {
  const library = createRequire(import.meta.url).resolve("@photostructure/sqlite");
  const program = `
    const { DatabaseSync } = require(${JSON.stringify(library)});
    new DatabaseSync(${JSON.stringify(path)}).exec("BEGIN EXCLUSIVE");
    console.log("held");
    setTimeout(() => {}, 30000);`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}
