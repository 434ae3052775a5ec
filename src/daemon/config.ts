import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "../base/index.ts";
import { type Config, Fault } from "../contract/index.ts";
import { configSchema } from "../contract/schemas.ts";

type Settings = Record<string, unknown>;
const keys = Object.keys(configSchema.shape);

/** Defaults, then config.json, then DROVER_* variables, then flags; parsed once and frozen. */
export function readConfig(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  flags: Partial<Config>,
): Config {
  const path = join(home, "config.json");
  const file = readSettings(path);
  const parsed = configSchema.safeParse({ ...file, ...fromEnvironment(env), ...flags });
  if (parsed.success) return Object.freeze(parsed.data);
  const validations = parsed.error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({ field: key, detail: describeUnknown(key) }));
    return [{ field: issue.path.join("."), detail: issue.message }];
  });
  const list = validations.map(({ field, detail }) => `${field}: ${detail}`).join("; ");
  throw new Fault("config/invalid", `The configuration cannot be used (${path}, DROVER_* variables): ${list}.`, {
    validations,
  });
}

function describeUnknown(key: string): string {
  const best = nearest(key, keys);
  return best ? `there is no such key; did you mean ${JSON.stringify(best)}?` : "there is no such key";
}

function readSettings(path: string): Settings {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Fault("config/invalid", `${path} cannot be read.`, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Settings;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault("config/invalid", `${path} is not JSON: ${detail}.`, { cause: error });
  }
  throw new Fault("config/invalid", `${path} must hold one JSON object.`);
}

/** `DROVER_LOG_LEVEL=debug` and so on: one variable per key, text as the key's type; lists with commas. Tables only in the file. */
function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Settings {
  const found: Settings = {};
  for (const [key, schema] of Object.entries(configSchema.shape)) {
    const text = env[`DROVER_${key.toUpperCase()}`];
    if (text === undefined || text === "" || key === "env") continue;
    const readings = [text, text.split(",").map((part) => part.trim()), Number(text), text === "true"];
    found[key] = readings.find((reading) => schema.safeParse(reading).success) ?? text;
  }
  return found;
}
