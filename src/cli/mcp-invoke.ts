import { setTimeout as sleep } from "node:timers/promises";
import { Fault, type OperationInput, type OperationOutput } from "../contract/index.ts";
import type { CalledOperation, Invoke, InvokeOptions } from "../mcp/index.ts";
import type { CallOptions, Client } from "../sdk/index.ts";

/** A daemon that restarts is back within this time; where none may be started it is waited for. */
const BACK_MS = 5_000;
const LOOK_MS = 100;

/** Nothing listened, so nothing was asked: the call may be made again whatever it does. */
const unsent: readonly unknown[] = ["ECONNREFUSED", "ENOENT"];

/**
 * Operations through the client, in a program that outlives daemons: the first call connects (which may start one), and a call that
 * meets none connects again.
 */
export function createClientInvoke(connect: () => Promise<Client>): Invoke & { connect(): Promise<Client> } {
  let client: Promise<Client> | undefined;
  let wasConnected = false;
  const connected = () => {
    client ??= (wasConnected ? connectAgain(connect) : connect()).then((opened) => {
      wasConnected = true;
      return opened;
    });
    client.catch(() => (client = undefined));
    return client;
  };
  return {
    connect: connected,
    async call(name, input, options) {
      const used = await connected();
      try {
        return await ask(used, name, input, options);
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        client = undefined;
        used.close();
        if (!unsent.includes(codeOf(error)) || options.signal.aborted) throw error;
        return ask(await connected(), name, input, options);
      }
    },
    async *events({ signal }) {
      yield* (await connected()).events({ signal });
    },
  };
}

async function connectAgain(connect: () => Promise<Client>): Promise<Client> {
  const deadline = Date.now() + BACK_MS;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "daemon/not-running" || Date.now() > deadline) throw error;
      await sleep(LOOK_MS);
    }
  }
}

function isUnreachable(error: unknown): error is Fault {
  return error instanceof Fault && (error.code === "client/unreachable" || error.code === "daemon/shutting-down");
}

function codeOf({ cause }: Fault): unknown {
  return (cause as NodeJS.ErrnoException | undefined)?.code;
}

type Asked = { [K in CalledOperation]: (client: Client, input: OperationInput<K>, o: CallOptions) => Promise<unknown> };

const asked: Asked = {
  "tool.call": (client, { name, ...rest }, o) => client.tools.call(name, rest, o),
  "process.list": (client, input, o) => client.processes.list(input, o),
  "process.log": (client, { id, ...rest }, o) => client.processes.log(id, rest, o),
  "process.wait": (client, { id, ...rest }, o) => client.processes.wait(id, rest, o),
};

function ask<K extends CalledOperation>(
  client: Client,
  name: K,
  input: OperationInput<K>,
  { signal, requestId }: InvokeOptions,
): Promise<OperationOutput<K>> {
  const options = { signal, ...(requestId !== undefined && { headers: { "X-Request-Id": requestId } }) };
  return asked[name](client, input, options) as Promise<OperationOutput<K>>;
}
