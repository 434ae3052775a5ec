import { afterEach, beforeEach } from "vitest";
import type { Caller, MachineId, ToolSetName } from "../../../src/contract/index.ts";
import { configSchema, toolSets } from "../../../src/contract/schemas.ts";
import { createOperations, Metrics, type Operations } from "../../../src/operations/index.ts";
import { caller, TestHome } from "../../support/home.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- results are judged by the assertions on them
export type AnyResult = any;

export interface ToolHome {
  readonly operations: Operations;
  readonly home: TestHome;
  /** Calls a tool of ours. */
  call(name: string, given?: Record<string, unknown>, by?: Caller): Promise<AnyResult>;
  /** Calls a tool of another set. */
  callIn(set: ToolSetName, name: string, given?: Record<string, unknown>): Promise<AnyResult>;
}

/** A real supervisor for each test, and the tools on top of it. Every result is checked against the tool's own schema. */
export function useTools(): ToolHome {
  let home: TestHome;
  let operations: Operations;
  beforeEach(async () => {
    home = new TestHome();
    const supervisor = await home.open();
    const daemon = {
      version: "1",
      protocol: 1,
      machineId: "m" as MachineId,
      machineName: "n",
      home: home.path,
      socket: "s",
      startedAtMs: 0,
      features: [],
      url: () => "u",
      shutDown: () => undefined,
      measures: () => [],
    };
    operations = createOperations({
      supervisor,
      tokens: home.openTokens(),
      git: home.openGit(),
      config: configSchema.parse({}),
      metrics: new Metrics(),
      daemon,
    });
  });
  afterEach(() => home[Symbol.asyncDispose]());
  const run = async (set: ToolSetName, name: string, given: Record<string, unknown>, by: Caller) => {
    const result = await operations["tool.call"]({ name, set, arguments: given }, by);
    toolSets[set]
      .find((tool) => tool.name === name)
      ?.output.strict()
      .parse(result);
    return result;
  };
  return {
    get operations() {
      return operations;
    },
    get home() {
      return home;
    },
    call: (name, given = {}, by = caller()) => run("drover", name, given, by),
    callIn: (set, name, given = {}) => run(set, name, given, caller()),
  };
}
