import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ignore } from "../base/index.ts";
import type { Check } from "./machine-checks.ts";
import { formatSize } from "./size.ts";

/** Below this the daemon refuses soon; a log alone may take 64 MiB. */
const SPACE_FAIL = 64 << 20;
const SPACE_WARN = 1 << 30;
const SOCKET_PATH_BYTES = 107;
const PROBE_BYTES = 1 << 20;

/** What depends on the home: its modes, the room it has and what its file system can do. */
export function checkHome(home: string): Check[] {
  const place = nearestExisting(home);
  return [checkModes(home), checkSocketPath(home), checkSpace(place), checkHoles(place)];
}

function checkModes(home: string): Check {
  const name = "home";
  if (!existsSync(home)) return { name, state: "ok", found: `${home} (made at the first start)` };
  const { uid, mode } = statSync(home);
  if (uid !== process.getuid?.())
    return {
      name,
      state: "fail",
      found: `${home} belongs to user ${uid}`,
      advice: `Use another DROVER_HOME, or: sudo chown -R $(id -u) ${home}`,
    };
  if (mode & 0o077)
    return {
      name,
      state: "warn",
      found: `${home} is open to others (mode ${octal(mode)})`,
      advice: `chmod 700 ${home}`,
    };
  const open = ["token", "key", "drover.sock"]
    .map((file) => join(home, file))
    .filter((file) => existsSync(file) && statSync(file).mode & 0o077);
  if (open.length > 0)
    return { name, state: "warn", found: `open to others: ${open.join(", ")}`, advice: `chmod 600 ${open.join(" ")}` };
  return { name, state: "ok", found: `${home} (mode ${octal(mode)})` };
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

function checkSocketPath(home: string): Check {
  const name = "socket path";
  const bytes = Buffer.byteLength(join(home, "drover.sock"));
  if (bytes <= SOCKET_PATH_BYTES) return { name, state: "ok", found: `${bytes} of ${SOCKET_PATH_BYTES} bytes` };
  const advice = "drover itself finds it; other clients of the socket need a shorter DROVER_HOME, or the TCP address.";
  return { name, state: "warn", found: `${bytes} bytes, over the kernel's ${SOCKET_PATH_BYTES}`, advice };
}

function checkSpace(place: string): Check {
  const name = "disk space";
  const { bavail, bsize, ffree, files } = statfsSync(place);
  const free = bavail * bsize;
  const found = `${formatSize(free)} free`;
  const advice = "Free some, or lower `log_total_bytes` in config.json.";
  if (files > 0 && ffree < 1_000)
    return {
      name,
      state: "fail",
      found: `${ffree} inodes left`,
      advice: "Remove files: the file system has no inodes left.",
    };
  if (free < SPACE_FAIL) return { name, state: "fail", found, advice };
  return free < SPACE_WARN ? { name, state: "warn", found, advice } : { name, state: "ok", found };
}

/** Writes a megabyte, punches a hole into it and looks whether the blocks came back. */
function checkHoles(place: string): Check {
  const name = "hole punching";
  const advice = "Logs are kept in segments instead; nothing to do.";
  let dir: string | undefined;
  try {
    dir = mkdtempSync(join(place, ".drover-doctor-"));
    const file = join(dir, "probe");
    const fd = openSync(file, "w", 0o600);
    writeSync(fd, Buffer.alloc(PROBE_BYTES, 1));
    fsyncSync(fd);
    closeSync(fd);
    const before = statSync(file).blocks;
    execFileSync("fallocate", ["--punch-hole", "--offset", "0", "--length", String(PROBE_BYTES / 2), file], {
      stdio: "ignore",
      timeout: 5_000,
    });
    if (statSync(file).blocks < before) return { name, state: "ok", found: "works here" };
    return { name, state: "warn", found: "gives no room back here", advice };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT")
      return {
        name,
        state: "warn",
        found: "cannot be tried without fallocate(1)",
        advice: "Nothing to do: the shim tries by itself.",
      };
    if (code === "EACCES" || code === "EROFS")
      return { name, state: "fail", found: `${place} cannot be written`, advice: "Choose a DROVER_HOME that can." };
    return { name, state: "warn", found: "not supported by this file system", advice };
  } finally {
    if (dir) rmSync(dir, { recursive: true, force: true });
  }
}

function nearestExisting(path: string): string {
  try {
    return statSync(path).isDirectory() ? path : nearestExisting(dirname(path));
  } catch (error) {
    ignore(error, "not made yet");
    return nearestExisting(dirname(path));
  }
}
