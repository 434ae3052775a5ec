import { createHash } from "node:crypto";
import { signalNumber } from "../base/index.ts";
import { type Caller, Fault } from "../contract/index.ts";
import type { ProcessRecord, Supervisor } from "../process/index.ts";
import type { Rooms } from "./create.ts";
import type { Operations } from "./table.ts";
import { invalidField } from "./wire.ts";

type Names = "process.signal" | "process.stop" | "process.stdin" | "process.resize" | "process.delete";

/** Acting on a process that is there. */
export function controlOperations({ supervisor }: Rooms): Pick<Operations, Names> {
  return {
    async "process.signal"({ id, signal, scope }, caller) {
      refuseForeign(supervisor, id, caller);
      if (!signal) throw invalidField("signal", "it is missing", "Signal is required.");
      const number = toSignal(signal);
      const reached = await supervisor.signal(supervisor.get(id, caller, "end"), number, scope ?? "group");
      return { message: `Signal "${signal}" sent to process "${id}".`, reached };
    },

    "process.stop"({ id, signals }, caller) {
      const steps = signals?.map(({ signal, wait_ms }) => ({ signal: toSignal(signal), waitMs: wait_ms ?? 0 }));
      return supervisor.stop(supervisor.get(id, caller, "end"), steps);
    },

    async "process.stdin"({ id, data, encoding, close, write_id }, caller) {
      const record = supervisor.get(id, caller, "change");
      refuseEndedStdin(record);
      const bytes = data === undefined ? undefined : toBytes(data, encoding ?? "utf-8");
      const options = { ...(close && { close }), ...(write_id !== undefined && { writeId: toWriteId(write_id) }) };
      return supervisor.use(record, (connection) => connection.writeStdin(bytes, options));
    },

    async "process.resize"({ id, cols, rows }, caller) {
      const record = supervisor.get(id, caller, "change");
      if (!record.meta.tty) throw new Fault("process/no-terminal", `Process "${id}" was started without tty.`);
      await supervisor.use(record, (connection) => connection.resize(cols, rows));
      return { done: true };
    },

    "process.delete": ({ id }, caller) => supervisor.remove(supervisor.get(id, caller, "change")),
  };
}

/** As the original does: another chat's process is not found before anything else is looked at. A chat's token gets one answer for all it cannot see. */
function refuseForeign(supervisor: Supervisor, id: string, caller: Caller): void {
  const anybody: Caller = { ...caller, scope: { kind: "all" }, chatId: undefined };
  if (caller.scope.kind === "chat" || supervisor.find(id, anybody)) supervisor.get(id, caller);
}

function toSignal(name: string): number {
  const number = signalNumber(name);
  if (number !== undefined) return number;
  throw new Fault("process/unsupported-signal", `Unsupported signal "${name}". Use "kill" or "terminate".`, {
    detail: 'Any name such as "INT" or "SIGHUP", or a number from 1 to 64, will do too.',
  });
}

function refuseEndedStdin(record: ProcessRecord): void {
  if (record.meta.stdin !== "open") {
    throw new Fault(
      "process/no-stdin",
      `Process "${record.id}" has no open stdin; start it with stdin: {"open": true} or tty.`,
    );
  }
  if (record.ended) throw new Fault("process/no-stdin", `Process "${record.id}" has ended.`);
}

function toBytes(data: string, encoding: "utf-8" | "base64"): Buffer {
  if (encoding === "base64" && !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) throw invalidField("data", "it is not base64");
  return Buffer.from(data, encoding === "base64" ? "base64" : "utf8");
}

/** The shim remembers 16 bytes of it. */
function toWriteId(text: string): Buffer {
  return createHash("sha256").update(text).digest().subarray(0, 16);
}
