import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readConfig } from "../../../src/daemon/config.ts";
import { openHome } from "../../../src/daemon/home.ts";
import { readKey, readToken } from "../../../src/daemon/secrets.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "drover-unit-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const write = (value: unknown) =>
  writeFileSync(join(home, "config.json"), typeof value === "string" ? value : JSON.stringify(value));

describe("configuration", () => {
  test("is defaults, then the file, then the environment, then flags", () => {
    write({ port: 1, keep_days: 3, log_level: "warn" });
    const config = readConfig(
      home,
      { DROVER_LOG_LEVEL: "debug", DROVER_PORT: "2", DROVER_ALLOWED_HOSTS: "a, b" },
      { port: 3 },
    );
    expect(config).toMatchObject({
      port: 3,
      keep_days: 3,
      log_level: "debug",
      allowed_hosts: ["a", "b"],
      stop_grace_ms: 5000,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test("names the nearest right key, and a wrong value", () => {
    write({ keep_dayz: 3 });
    expect(() => readConfig(home, {}, {})).toThrow('did you mean "keep_days"');
    write({ port: "x" });
    expect(() => readConfig(home, {}, {})).toThrow("port");
    write("{");
    expect(() => readConfig(home, {}, {})).toThrow("is not JSON");
    write("[]");
    expect(() => readConfig(home, {}, {})).toThrow("one JSON object");
    expect(() => readConfig(home, { DROVER_PORT: "many" }, {})).toThrow();
  });
});

describe("the home", () => {
  test("is made for us alone, and narrowed when it is too open", () => {
    const inner = join(home, "a/b");
    openHome(inner);
    expect(statSync(inner).mode & 0o777).toBe(0o700);
    chmodSync(inner, 0o755);
    writeFileSync(join(inner, "token"), "x", { mode: 0o644 });
    mkdirSync(join(inner, "run"), { mode: 0o755 });
    openHome(inner);
    expect(statSync(inner).mode & 0o777).toBe(0o700);
    expect(statSync(join(inner, "token")).mode & 0o777).toBe(0o600);
    expect(statSync(join(inner, "run")).mode & 0o777).toBe(0o700);
  });

  test("is refused when it is a file, with what to do", () => {
    const file = join(home, "file");
    writeFileSync(file, "");
    expect(() => openHome(file)).toThrow(expect.objectContaining({ code: "daemon/home-unusable" }));
  });

  test("keeps its secrets, and refuses a broken one", () => {
    expect(readToken(home)).toBe(readToken(home));
    expect(readToken(home).length).toBeGreaterThanOrEqual(43);
    expect(readKey(home)).toHaveLength(32);
    expect(statSync(join(home, "token")).mode & 0o777).toBe(0o600);
    writeFileSync(join(home, "token"), "");
    expect(() => readToken(home)).toThrow("rm ");
  });
});
