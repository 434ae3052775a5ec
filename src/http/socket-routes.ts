import type { WebSocket } from "ws";
import { type Caller, type OperationName, routes } from "../contract/index.ts";
import { operations as schemas } from "../contract/schemas.ts";
import { serveAttachment } from "./attach-session.ts";
import { COMPRESS_BYTES } from "./compress-bytes.ts";
import { serveGitWatch } from "./git-session.ts";
import { createQueryParser } from "./parse-query.ts";
import type { AppRooms } from "./turn.ts";

/** What was opened before the handshake, so that a fault is still a status of its own. */
export interface Opened {
  serve(webSocket: WebSocket): Promise<void>;
  close(): void;
}

/** A route that speaks WebSocket. */
export interface SocketRoute {
  readonly operation: Extract<OperationName, "process.attach" | "git.watch">;
  /** The path parameter is its one group, where there is one. */
  readonly pattern: RegExp;
  /** Longest frame that is read. */
  readonly frameBytes: number;
  /** What a frame must have to be compressed; who sends in pieces chooses for each message itself. */
  readonly compression: { threshold: number; serverNoContextTakeover?: boolean; clientNoContextTakeover?: boolean };
  open(given: { id: string; search: string }, caller: Caller, rooms: AppRooms): Promise<Opened>;
}

const parseAttach = createQueryParser(schemas["process.attach"].query);
const parseWatch = createQueryParser(schemas["git.watch"].query);

export const socketRoutes: readonly SocketRoute[] = [
  {
    operation: "process.attach",
    pattern: patternOf("process.attach"),
    // A person's key strokes and pastes; what is larger belongs in POST …/stdin.
    frameBytes: 1 << 20,
    compression: { threshold: COMPRESS_BYTES },
    async open({ id, search }, caller, rooms) {
      const input = { ...parseAttach(search, caller.strict), id };
      const attachment = await rooms.operations["process.attach"](input, caller);
      return {
        serve: (webSocket) => serveAttachment({ webSocket, attachment, caller, rooms }),
        close: () => attachment.close(),
      };
    },
  },
  {
    operation: "git.watch",
    pattern: patternOf("git.watch"),
    // As in the original, and no dictionary between messages.
    frameBytes: 4 << 20,
    compression: { threshold: 0, serverNoContextTakeover: true, clientNoContextTakeover: true },
    async open({ search }, caller, rooms) {
      const watching = rooms.operations["git.watch"](parseWatch(search, caller.strict), caller);
      return {
        serve: (webSocket) => serveGitWatch({ webSocket, watching, caller, rooms }),
        // The caller's signal ends the watch.
        close: () => undefined,
      };
    },
  },
];

function patternOf(name: SocketRoute["operation"]): RegExp {
  return new RegExp(`^${routes[name].path.replace("{id}", "([^/]+)")}$`);
}
