import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { Fault } from "../contract/index.ts";
import { describe } from "./answer.ts";
import type { ResourceWatch } from "./resource-watch.ts";
import { listLogs, logTemplates, readLog } from "./resources.ts";
import { type CallRooms, callTool } from "./tool-call.ts";

export interface ServerRooms extends CallRooms {
  readonly version: string;
  /** The caller may change nothing: tools that would are not offered. */
  readonly readOnly?: boolean | undefined;
  /** Whether changes of resources can be told on this connection. */
  readonly canNotify: boolean;
  /** Takes the subscriptions of protocols before 2026; later ones are taken where the connection is served. */
  readonly watch?: ResourceWatch | undefined;
}

const instructions =
  "Processes started here outlive the call, this conversation and the server: never start one twice because a call returned early. Every result names the call that goes on.";

/** The protocol's methods over one `Invoke`. One server per connection, or per HTTP request. */
export function createMcpServer(rooms: ServerRooms): Server {
  const { invoke, tools, version, canNotify } = rooms;
  const resources = canNotify ? { subscribe: true, listChanged: true } : {};
  const info = { name: "drover", title: "Drover", version };
  // The raw server: the schemas are ours, and so are the checks, which name what is wrong and the nearest right word.
  const server = new Server(info, { capabilities: { tools: {}, resources }, instructions });
  const offered = tools.list.filter((tool) => !rooms.readOnly || tool.annotations?.readOnlyHint);
  server.setRequestHandler("tools/list", () => ({ tools: offered }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    callTool(rooms, { tool: params.name, arguments: params.arguments ?? {} }, context),
  );
  server.setRequestHandler("resources/list", ({ params }, { mcpReq }) =>
    answer(listLogs(invoke, params?.cursor, mcpReq.signal)),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...logTemplates] }));
  server.setRequestHandler("resources/read", async ({ params }, { mcpReq }) => ({
    contents: [await answer(readLog(invoke, params.uri, mcpReq.signal))],
  }));
  if (rooms.watch) serveSubscriptions(server, rooms.watch);
  return server;
}

function serveSubscriptions(server: Server, watch: ResourceWatch): void {
  server.setRequestHandler("resources/subscribe", async ({ params }, { mcpReq }) => {
    await answer(watch.addLog(params.uri, mcpReq.signal));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    watch.removeLog(params.uri);
    return {};
  });
  server.oninitialized = () => watch.watchList();
}

/** Resources have no result that says what failed: a fault becomes an error of the protocol. */
async function answer<T>(value: Promise<T>): Promise<T> {
  try {
    return await value;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const code = error.facts.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, describe(error), { code: error.code });
  }
}
