// The second door of contract, for those who validate: it loads zod.
export { config as configSchema } from "./config.ts";
export { eventTypes } from "./events.ts";
export { operations, type OperationSchemas } from "./operations.ts";
