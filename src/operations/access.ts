import { type Caller, Fault, type Grant, type Route, routes } from "../contract/index.ts";
import type { Supervisor, WaitOptions } from "../process/index.ts";
import type { Operations } from "./table.ts";

/** Faults unless a token like this may call such a route at all. Which processes it then reaches, the process room says. */
export function checkAccess(route: Pick<Route, "changes" | "unscoped">, grant: Grant): void {
  if (route.unscoped && grant.scope.kind !== "all") {
    throw new Fault("auth/out-of-scope", "This token is bound to a chat and reaches nothing beyond it.");
  }
  if (route.changes) refuseReadOnly(grant);
}

/** Fault auth/read-only before something is changed. */
export function refuseReadOnly(grant: Grant): void {
  if (grant.readOnly) throw new Fault("auth/read-only", "This token may only read; this would change something.");
}

/** Who holds a port is told to a token that is bound to a chat only when that is something it can see. */
export function namerFor(supervisor: Supervisor, caller: Caller): WaitOptions["mayName"] {
  if (caller.scope.kind === "all") return undefined;
  return (processId) => processId !== undefined && supervisor.find(processId, caller) !== undefined;
}

/** Asks before every operation, whichever door calls it. A door may ask earlier, before it reads a body. */
export function guardOperations(operations: Operations): Operations {
  const guarded = Object.entries(operations).map(([name, operation]) => [name, guard(name, operation as AnyOperation)]);
  return Object.fromEntries(guarded) as Operations;
}

type AnyOperation = (input: object, caller: Caller, ...rest: unknown[]) => unknown;

function guard(name: string, operation: AnyOperation): AnyOperation {
  const route: Route | undefined = routes[name as keyof typeof routes];
  if (!route?.changes && !route?.unscoped) return operation;
  return (input, caller, ...rest) => {
    checkAccess(route, caller);
    return operation(input, caller, ...rest);
  };
}
