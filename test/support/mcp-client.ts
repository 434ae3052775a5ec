import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { root } from "./real-daemon.ts";

/** The newest protocol of the library, and the one before. */
export const protocols = ["2026-07-28", "2025-11-25"] as const;
export type Protocol = (typeof protocols)[number];

export const mainPath = join(process.env["DROVER_TEST_DIST"] ?? join(root, "dist"), "cli/main.js");

/** The real client library, and what it was told without having asked. */
export interface McpPeer {
  readonly client: Client;
  readonly updated: string[];
  readonly listChanged: number[];
  readonly stderr: string[];
  close(): Promise<void>;
}

function createPeer(protocol: Protocol): McpPeer {
  const mode = protocol === "2026-07-28" ? { pin: protocol } : ("legacy" as const);
  const client = new Client({ name: "drover-test", version: "1" }, { versionNegotiation: { mode } });
  const peer: McpPeer = { client, updated: [], listChanged: [], stderr: [], close: () => client.close() };
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void peer.updated.push(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void peer.listChanged.push(Date.now()));
  return peer;
}

/** `drover mcp` as a client starts it. */
export async function connectStdio(o: {
  home: string;
  protocol?: Protocol;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
}): Promise<McpPeer> {
  const peer = createPeer(o.protocol ?? "2025-11-25");
  const args = [mainPath, "mcp", "--home", o.home, ...(o.args ?? [])];
  const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...o.env };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env,
    stderr: "pipe",
    ...(o.cwd !== undefined && { cwd: o.cwd }),
  });
  transport.stderr?.on("data", (text: Buffer) => void peer.stderr.push(text.toString()));
  await peer.client.connect(transport);
  return peer;
}

/** `/mcp` of a daemon. */
export async function connectHttp(o: {
  url: string;
  token: string;
  protocol?: Protocol;
  query?: string;
  headers?: Record<string, string>;
}): Promise<McpPeer> {
  const peer = createPeer(o.protocol ?? "2025-11-25");
  const headers = { authorization: `Bearer ${o.token}`, ...o.headers };
  const url = new URL(`${o.url}/mcp${o.query ?? ""}`);
  await peer.client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return peer;
}
