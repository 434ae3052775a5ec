import { randomUUID } from "node:crypto";
import type { Log } from "../base/index.ts";

/** Errors that nobody caught are defects: logged with a reference, and never the end of the daemon. Returns how to stop. */
export function catchUnexpected(log: Log): () => void {
  const report = (error: unknown) => log.error("internal/bug", { reference: randomUUID(), error });
  process.on("unhandledRejection", report);
  process.on("uncaughtException", report);
  return () => {
    process.off("unhandledRejection", report);
    process.off("uncaughtException", report);
  };
}
