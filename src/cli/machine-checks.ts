import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { release } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ignore } from "../base/index.ts";

/** One line of `drover doctor`. `advice` says what to do about a warning or a failure. */
export interface Check {
  name: string;
  state: "ok" | "warn" | "fail";
  found: string;
  advice?: string;
}

/** The oldest Node that everything was tried with. */
const NODE_LEAST = [20, 15] as const;
/** pidfd_open(2) came with 5.3. */
const KERNEL_LEAST = [5, 3] as const;
/** A daemon holds about three descriptors for each process that is being watched. */
const FILES_LEAST = 4_096;

const helpers = fileURLToPath(new URL("../../build/", import.meta.url));

/** What does not depend on the home. */
export function checkMachine(path: string): Check[] {
  return [checkNode(), ...checkHelpers(path), checkKernel(), checkPidfd(), checkCgroup(), checkFiles()];
}

function checkNode(): Check {
  const found = process.versions.node;
  if (isAtLeast(found, NODE_LEAST)) return { name: "node", state: "ok", found };
  return { name: "node", state: "fail", found, advice: `Install Node ${NODE_LEAST.join(".")} or newer.` };
}

function checkHelpers(path: string): Check[] {
  const missing = ["drover-keeper", "drover-shim"].filter((name) => !isExecutable(join(helpers, name)));
  if (missing.length === 0) return [{ name: "native helpers", state: "ok", found: helpers }, checkStatic()];
  const tools = ["make", "cc"].filter((tool) => !path.split(delimiter).some((dir) => isExecutable(join(dir, tool))));
  const get =
    tools.length > 0 ? `Get ${tools.join(" and ")} first (Debian: apt-get install -y make gcc), then run` : "Run";
  return [
    {
      name: "native helpers",
      state: "fail",
      found: `missing: ${missing.join(", ")}`,
      advice: `${get} \`make\` in the repository.`,
    },
  ];
}

function checkStatic(): Check {
  if (!needsInterpreter(readFileSync(join(helpers, "drover-shim"))))
    return { name: "static shim", state: "ok", found: "yes" };
  return {
    name: "static shim",
    state: "warn",
    found: "no, it needs this machine's libc",
    advice:
      "Processes here are fine; containers with another libc are not. Install musl-tools (or libc's static archive) and run `make`.",
  };
}

/** Whether an ELF file of this machine asks for a dynamic loader: a program header of type PT_INTERP (elf(5)). */
export function needsInterpreter(elf: Buffer): boolean {
  const PT_INTERP = 3;
  if (elf.length < 64 || elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 2) return false;
  const table = Number(elf.readBigUInt64LE(32));
  const size = elf.readUInt16LE(54);
  const count = elf.readUInt16LE(56);
  return Array.from({ length: count }, (_, i) => table + i * size).some(
    (at) => at + 4 <= elf.length && elf.readUInt32LE(at) === PT_INTERP,
  );
}

function checkKernel(): Check {
  const found = release();
  if (isAtLeast(found, KERNEL_LEAST)) return { name: "kernel", state: "ok", found: `${found} (pidfd, subreaper)` };
  return { name: "kernel", state: "fail", found, advice: `Drover needs Linux ${KERNEL_LEAST.join(".")} or newer.` };
}

/** Asks the shim to send signal 0 to ourselves the way it signals others; a seccomp filter of a container may forbid it. */
function checkPidfd(): Check {
  const name = "signals by identity";
  try {
    const start = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[19];
    const shim = join(helpers, "drover-shim");
    const answer = execFileSync(shim, ["signal", "0", `${process.pid}:${start}`], {
      encoding: "utf8",
      timeout: 5_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const errno = Number(answer.trim().split(" ")[1]);
    if (errno === 0) return { name, state: "ok", found: "works" };
    return {
      name,
      state: "fail",
      found: `the kernel refuses (errno ${errno})`,
      advice: "Allow pidfd_open and pidfd_send_signal in the container's seccomp profile.",
    };
  } catch (error) {
    ignore(error, "reported as a line");
    return {
      name,
      state: "warn",
      found: "cannot be tried without the shim",
      advice: "Build the native helpers first.",
    };
  }
}

/** Limits are enforced by the kernel when we may make groups below our own. */
function checkCgroup(): Check {
  const name = "cgroup v2";
  const advice =
    "Limits are watched by the shim instead. For the kernel's: run the daemon under systemd with Delegate=yes.";
  try {
    const own = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
    if (own === undefined) return { name, state: "warn", found: "not in use here", advice };
    const dir = join("/sys/fs/cgroup", own);
    accessSync(dir, constants.W_OK);
    accessSync(join(dir, "cgroup.procs"), constants.W_OK);
    const controllers = readFileSync(join(dir, "cgroup.controllers"), "utf8").trim();
    if (!/\bmemory\b/.test(controllers))
      return { name, state: "warn", found: `${dir}, without the memory controller`, advice };
    return { name, state: "ok", found: `${dir} may be divided` };
  } catch (error) {
    return {
      name,
      state: "warn",
      found: `not ours to divide (${(error as NodeJS.ErrnoException).code ?? "unreadable"})`,
      advice,
    };
  }
}

function checkFiles(): Check {
  const name = "open files";
  const most = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  if (most === undefined || Number(most) >= FILES_LEAST) return { name, state: "ok", found: most ?? "unlimited" };
  return { name, state: "warn", found: most, advice: `Hundreds of processes need more: ulimit -n ${FILES_LEAST}.` };
}

export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [a = 0, b = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return a > major || (a === major && b >= minor);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    ignore(error, "absent or not executable: both mean no");
    return false;
  }
}
