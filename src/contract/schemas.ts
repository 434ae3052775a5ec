// The second door of contract, for those who validate: it loads zod.
export { config as configSchema } from "./config.ts";
export { eventTypes } from "./events.ts";
export { type OperationSchemas, operations } from "./operations.ts";
export { mcpQuery, toolSets, tools, toToolSchema } from "./tools.ts";
