import { checkWait, waitFor } from "../process/index.ts";
import { namerFor } from "./access.ts";
import type { Rooms } from "./create.ts";
import type { Operations } from "./table.ts";
import { toInfo, toTime } from "./wire.ts";

/** Starting, and watching what is already there. */
export function startOperations({ supervisor }: Rooms): Pick<Operations, "process.start" | "process.adopt"> {
  return {
    async "process.start"(input, caller) {
      if (input.wait) checkWait(input.wait);
      const { record, attached } = await supervisor.start(input, caller);
      const { pid, started_at_ms } = record.facts;
      const options = { fromStart: true, signal: caller.signal, mayName: namerFor(supervisor, caller) };
      const wait = input.wait && (await waitFor(supervisor, record, input.wait, options));
      return {
        id: record.id,
        started: true,
        ...(attached && { attached: true }),
        ...(pid !== undefined && { pid }),
        started_at: toTime(started_at_ms),
        ...(wait && { wait }),
      };
    },

    async "process.adopt"(input, caller) {
      return toInfo(supervisor, await supervisor.adopt(input.pid, input.label, caller));
    },
  };
}
