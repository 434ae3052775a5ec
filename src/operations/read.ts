import { type OperationInput, OUTPUT_WAIT_MS } from "../contract/index.ts";
import { readLog, readLogBytes, readOutput, searchLog, waitFor } from "../process/index.ts";
import { namerFor } from "./access.ts";
import type { Rooms } from "./create.ts";
import type { Operations } from "./table.ts";
import { toLeftovers } from "./wire.ts";

/** Reading output and waiting for it. */
export function readOperations({
  supervisor,
  metrics,
}: Rooms): Pick<
  Operations,
  "process.output" | "process.wait" | "process.log" | "process.log.bytes" | "process.search"
> {
  return {
    async "process.output"({ id, wait }: OperationInput<"process.output">, caller) {
      const record = supervisor.get(id, caller);
      if (wait === "true") await record.waitExit(caller.signal, OUTPUT_WAIT_MS);
      // First the state, then the output: `running: false` promises that the output is complete.
      const { running } = record;
      const hasLeftovers = !running && record.facts.leftover_count > 0;
      const seen = hasLeftovers ? await supervisor.inspect(record, { tree: true }) : {};
      const output = readOutput(supervisor, record);
      metrics.outputRead(output.output.length);
      const leftovers = toLeftovers(record, seen);
      return { ...output, running, command: record.meta.command, ...(leftovers.length > 0 && { leftovers }) };
    },

    "process.wait"({ id, ...request }, caller) {
      const options = { fromStart: false, signal: caller.signal, mayName: namerFor(supervisor, caller) };
      return waitFor(supervisor, supervisor.get(id, caller), request, options);
    },

    async "process.log"({ id, ...query }, caller) {
      const answer = await readLog(supervisor, supervisor.get(id, caller), query);
      metrics.outputRead(answer.to - answer.from);
      return answer;
    },

    "process.log.bytes"({ id, ...query }, caller) {
      const answer = readLogBytes(supervisor, supervisor.get(id, caller), query);
      metrics.outputRead(answer.data.length);
      return answer;
    },

    "process.search": ({ id, ...query }, caller) =>
      searchLog(supervisor, supervisor.get(id, caller), query, caller.signal),
  };
}
