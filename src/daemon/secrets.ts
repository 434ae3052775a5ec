import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../contract/index.ts";

/** As long as the key of SHA-256; far beyond guessing. */
const SECRET_BYTES = 32;
const LEAST_LENGTH = 32;

/** The bearer token of this home; made once. */
export function readToken(home: string): string {
  return readOrCreate(join(home, "token"));
}

/** The key for digests of client tokens; made once. */
export function readKey(home: string): Buffer {
  return Buffer.from(readOrCreate(join(home, "key")), "base64url");
}

function readOrCreate(path: string): string {
  try {
    writeFileSync(path, `${randomBytes(SECRET_BYTES).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new Fault("daemon/home-unusable", `${path} cannot be written.`, { cause });
    }
  }
  const text = readFileSync(path, "utf8").trim();
  if (text.length >= LEAST_LENGTH) return text;
  throw new Fault("daemon/home-unusable", `${path} holds no usable secret. To have a new one made, run: rm ${path}`);
}
