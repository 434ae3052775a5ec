import type { GitChanges } from "../contract/index.ts";
import type { Connection } from "./connection.ts";
import { readStream } from "./stream.ts";

/** A chat's repositories, or the one that holds a path; without either those of the client's own chat. */
export interface GitWatchOptions {
  chat_id?: string | undefined;
  path?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Changes, live, over as many connections as it takes; each connection begins with the full state. */
export async function* watchGit(connection: Connection, options: GitWatchOptions = {}): AsyncGenerator<GitChanges> {
  const { signal, chat_id, path } = options;
  const input = () => ({ chat_id, path });
  for await (const { event, data } of readStream(connection, { name: "git.stream", input, signal })) {
    if (event === "changes") yield JSON.parse(data) as GitChanges;
  }
}
