import { writeSync } from "node:fs";
import { ignore } from "./ignore.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Record<string, unknown>;

/** One JSON line per call. Messages are constant text; data goes in fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose every line carries these fields too. */
  child(fields: LogFields): Log;
}

const order: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Lines go to `fd` by one synchronous write each, so that `kill -9` loses none. */
export function createLog(fd: number, level: LogLevel, fields: LogFields = {}): Log {
  const least = order.indexOf(level);
  const at = (name: LogLevel) => (message: string, more?: LogFields) => {
    if (order.indexOf(name) < least) return;
    const line = { at: new Date().toISOString(), level: name, message, ...fields, ...more };
    try {
      writeSync(fd, `${JSON.stringify(line, plainErrors)}\n`);
    } catch (error) {
      ignore(error, "a log that cannot be written must not end the daemon");
    }
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (more) => createLog(fd, level, { ...fields, ...more }),
  };
}

function plainErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}
