import { InvalidArgumentError } from "commander";
import { nearest } from "../base/index.ts";
import type { WaitFor } from "../contract/index.ts";
import { parseDuration } from "./duration.ts";
import { parseSize } from "./size.ts";

const kinds = ["exit", "port", "match", "http", "idle", "bytes", "activity"] as const;
const activities = [
  "busy",
  "sleeping",
  "listening",
  "waiting_line",
  "waiting_secret",
  "waiting_keys",
  "stopped",
] as const;

/** One `--for`, joined with those before it: `exit`, `port:3000`, `match:ready`, `http:URL`, `idle:5s`, `bytes:10k`, `activity:waiting_line`. */
export function addCondition(text: string, before: WaitFor | undefined): WaitFor {
  const at = text.indexOf(":");
  const kind = at < 0 ? text : text.slice(0, at);
  const condition = parseCondition(kind, at < 0 ? "" : text.slice(at + 1));
  const [key] = Object.keys(condition) as (keyof WaitFor)[];
  if (key !== undefined && key !== "exit" && before?.[key] !== undefined) {
    throw new InvalidArgumentError(`Only one \`${kind}\` condition can be waited for at a time.`);
  }
  return { ...before, ...condition };
}

function parseCondition(kind: string, value: string): WaitFor {
  switch (kind as (typeof kinds)[number]) {
    case "exit":
      return { exit: true };
    case "port":
      return { port: port(value) };
    case "match":
      return { match: given(kind, value) };
    case "http":
      return { http: address(value) };
    case "idle":
      return { idle_ms: Math.max(1, parseDuration(value)) };
    case "bytes":
      return { bytes: parseSize(value) };
    case "activity":
      return { activity: activity(value) };
    default:
      throw new InvalidArgumentError(unknown(kind, kinds));
  }
}

function given(kind: string, value: string): string {
  if (value === "") throw new InvalidArgumentError(`Write it as \`${kind}:…\`.`);
  return value;
}

function port(value: string): number {
  const number = /^\d+$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > 65_535) throw new InvalidArgumentError("A port is a number from 1 to 65535.");
  return number;
}

/** `http:3000` is the shortest, `http:localhost:3000/x` and `http://…` are as meant. */
function address(value: string): string {
  const rest = given("http", value);
  const url = /^\d+(\/|$)/.test(rest)
    ? `http://127.0.0.1:${rest}`
    : rest.startsWith("//")
      ? `http:${rest}`
      : rest.includes("://")
        ? rest
        : `http://${rest}`;
  if (!URL.canParse(url)) throw new InvalidArgumentError(`\`${value}\` is not an address.`);
  return url;
}

function activity(value: string): NonNullable<WaitFor["activity"]> {
  const name = value.replaceAll("-", "_");
  const known = activities.find((a) => a === name);
  if (!known) throw new InvalidArgumentError(unknown(value, activities));
  return known;
}

function unknown(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant ? `Did you mean \`${meant}\`?` : `Known are ${known.join(", ")}.`;
}
