import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { HttpOptions, Listening } from "../../src/http/index.ts";
import type { Operations } from "../../src/operations/table.ts";
import { type Client, createClient } from "../../src/sdk/index.ts";
import { createDoor, TOKEN } from "./http-door.ts";

/** A directory that is gone after the test. */
export function makeDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "drover-http-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export interface OpenDoor {
  listening: Listening;
  socketPath: string;
  overTcp: Client;
  overUnix: Client;
}

/** Real listeners in front of hand-written operations, with a client for each; all closed after the test. */
export async function openDoor(operations: Partial<Operations>, more: Partial<HttpOptions> = {}): Promise<OpenDoor> {
  const socketPath = join(makeDirectory(), "drover.sock");
  const listening = await createDoor(operations, more).listen({ tcp: { host: "127.0.0.1", port: 0 }, socketPath });
  const overTcp = createClient({ url: listening.url, token: TOKEN });
  const overUnix = createClient({ socket: socketPath });
  onTestFinished(async () => {
    overTcp.close();
    overUnix.close();
    await listening.close();
  });
  return { listening, socketPath, overTcp, overUnix };
}
