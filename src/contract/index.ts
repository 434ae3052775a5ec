// contract: every word on the wire, declared once.
//
// routes.ts is the operations table as plain data (no schema library, so that the client and the CLI start quickly);
// operations.ts adds the schemas of each entry and derives the types of handlers and callers from both. HTTP routes, the
// OpenAPI document, the client's methods and the CLI's calls are read from these two, never written again.
//
// Invariants: wire JSON is snake_case; unknown request fields are ignored unless the caller is strict; a field is absent when
// its value is not known; faults are a closed table.
//
// Read: routes.ts, process.ts, wait.ts, log.ts, events.ts, operations.ts, faults.ts; for models: tool-definition.ts, tools.ts.
// This door holds no value that needs zod; schemas are imported from "../contract/operations.ts" by those who validate.
export * from "./bounds.ts";
export type { Caller, Grant, Scope } from "./caller.ts";
export type { Config } from "./config.ts";
export type { EventType } from "./events.ts";
export { Fault, type FaultBody, type FaultCode, type FaultExtras, faults, type Validation } from "./faults.ts";
export { type ChatId, type MachineId, type ProcessId, toChatId, toProcessId } from "./ids.ts";
export type { OperationInput, OperationOutput, OperationRequest } from "./operations.ts";
export type { ProcessFacts, ProcessMeta } from "./record.ts";
export { type OperationName, type Route, routes } from "./routes.ts";
export {
  type Alias,
  type OwnCall,
  type ToolAnnotations,
  type ToolCall,
  type ToolDefinition,
  type ToolName,
  type ToolSetName,
  toolNames,
  toolSetNames,
} from "./tool-definition.ts";
export type { ToolArguments, ToolResult } from "./tools.ts";
export type * from "./wire.ts";
