import { Fault } from "../contract/index.ts";
import type { Rooms } from "./create.ts";
import type { Operations } from "./table.ts";
import { toInfo, toSummary } from "./wire.ts";

/** Finding processes and looking at them. */
export function findOperations({
  supervisor,
}: Rooms): Pick<Operations, "process.list" | "process.get" | "process.by-token" | "process.tree"> {
  return {
    "process.list"(query, caller) {
      const { records, ...rest } = supervisor.list(query, caller);
      return { processes: records.map((record) => toSummary(record, supervisor.recentLogEnd(record))), ...rest };
    },

    "process.get": ({ id }, caller) => toInfo(supervisor, supervisor.get(id, caller)),

    "process.by-token"({ token }, caller) {
      const record = supervisor.byToken(token, caller);
      if (!record) throw new Fault("process/not-found", "No process of this chat was started with this token.");
      return toInfo(supervisor, record);
    },

    async "process.tree"({ id }, caller) {
      const { look } = await supervisor.inspect(supervisor.get(id, caller), { tree: true });
      const processes = (look?.tree ?? []).map(({ pid, ppid, state, command, session, rssBytes }) => ({
        pid,
        ppid,
        state,
        command,
        session,
        ...(rssBytes !== undefined && { rss_bytes: rssBytes }),
      }));
      return { processes };
    },
  };
}
