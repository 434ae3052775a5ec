import type { Alias, OwnCall } from "../contract/index.ts";

/** A call of ours as a line that the model can follow, in the words of its set. */
export function sayCall(set: readonly Alias[], call: OwnCall): string {
  for (const alias of set) {
    const given = alias.fromCall(call);
    if (given) return `${alias.name} ${JSON.stringify(given)}`;
  }
  return `${call.tool} ${JSON.stringify(call.arguments)}`;
}
