import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Fault, type FaultCode } from "../../../src/contract/index.ts";

/** A directory that is gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "drover-files-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Every name below a directory, to see that nothing is left. */
export function namesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true }).map(String).sort();
}

export async function codeOf(work: Promise<unknown>): Promise<FaultCode> {
  return (await faultOf(work)).code;
}

export async function faultOf(work: Promise<unknown>): Promise<Fault> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Runs as a user without rights; root may do everything, so what is refused can only be seen as somebody else. */
export async function withoutRights<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.setegid?.(65_534);
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

export const isRoot = process.geteuid?.() === 0;
