import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { type RawData, WebSocket } from "ws";
import type { Wire, WireEvents } from "./attach.ts";
import { toFault, toUnreachable } from "./call.ts";
import type { Connection } from "./connection.ts";
import { createSocketPath } from "./socket-path.ts";

/** A WebSocket in Node: headers carry the token, and a Unix socket works as well as TCP. */
export function connectWebSocket(connection: Connection, path: string, events: WireEvents): Promise<Wire> {
  const { options, headers } = connection;
  const socketPath = options.socket === undefined ? undefined : createSocketPath(options.socket);
  const base = socketPath ? "ws://localhost" : connection.url.replace(/^http/, "ws").replace(/\/+$/, "");
  const through = socketPath ? { createConnection: () => connect(socketPath.get()) } : {};
  const socket = new WebSocket(base + path, { headers, perMessageDeflate: !socketPath, ...through });
  socket.on("close", () => socketPath?.close());
  return new Promise((resolve, reject) => {
    socket.on("unexpected-response", (_, response) => {
      readRefusal(connection, response).then(reject, reject);
    });
    socket.on("error", (error) => reject(toUnreachable(connection, error)));
    socket.on("message", (data: RawData, isBinary: boolean) =>
      events.message(isBinary ? (data as Buffer) : (data as Buffer).toString()),
    );
    socket.on("close", (code, reason) => events.close(code, reason.toString()));
    socket.on("open", () => resolve(toWire(socket, connection)));
  });
}

function toWire(socket: WebSocket, connection: Connection): Wire {
  const failed = (error: Error) => toUnreachable(connection, error);
  return {
    send: (data) =>
      new Promise((resolve, reject) => socket.send(data, (error) => (error ? reject(failed(error)) : resolve()))),
    close: () => socket.close(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

async function readRefusal(connection: Connection, response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return toFault(connection, response.statusCode ?? 0, Buffer.concat(chunks).toString());
}
