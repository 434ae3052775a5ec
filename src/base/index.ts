// base: small things without a domain word in their name, needed by two rooms or more. No state, no I/O but the log's one write.
export { type Clock, systemClock } from "./clock.ts";
export { type Deferred, defer } from "./deferred.ts";
export { ignore } from "./ignore.ts";
export { createLog, type Log, type LogFields, type LogLevel } from "./log.ts";
export { nearest } from "./nearest.ts";
export { signalName, signalNumber } from "./signals.ts";
export { byteOffset, firstBorder, isValidUtf8, lastBorder } from "./utf8.ts";
