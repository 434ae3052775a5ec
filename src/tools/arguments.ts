import type { z } from "zod";
import { nearest } from "../base/index.ts";
import { type Alias, Fault, type ToolDefinition, type Validation } from "../contract/index.ts";

type Issue = z.core.$ZodIssue;
type Tool = Pick<Alias | ToolDefinition, "name" | "input">;

/**
 * Checked arguments of a tool. As in Go's decoder names match in any case and `null` is absent; unlike there an unknown name is
 * refused, because a model that misspells an argument should hear of it.
 */
export function checkArguments(tool: Tool, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result = tool.input.safeParse(fit(given, Object.keys(tool.input.shape)));
  if (result.success) return result.data;
  throw badArguments(
    tool.name,
    result.error.issues.flatMap((issue) => toValidations(issue, tool.input)),
  );
}

/** A fault about arguments; the first one is told in the message. */
export function badArguments(tool: string, validations: Validation[]): Fault {
  const first = validations[0];
  const more = validations.length > 1 ? ` (and ${validations.length - 1} more)` : "";
  return new Fault("tool/bad-arguments", `${tool}: "${first?.field}" ${first?.detail}${more}.`, { validations });
}

/** A fault about a tool that the set does not have. */
export function unknownTool(name: string, set: string, known: readonly string[]): Fault {
  const meant = nearest(name, known);
  const hint = meant ? `Did you mean "${meant}"?` : `Known: ${known.join(", ")}.`;
  return new Fault("tool/unknown", `The set "${set}" has no tool "${name}". ${hint}`, {
    data: { known, ...(meant !== undefined && { nearest: meant }) },
  });
}

function fit(given: Readonly<Record<string, unknown>>, known: readonly string[]): Record<string, unknown> {
  const nameOf = (key: string) =>
    known.find((k) => k === key) ?? known.find((k) => k.toLowerCase() === key.toLowerCase()) ?? key;
  const named = Object.entries(given)
    .filter(([key, value]) => value !== null && (nameOf(key) === key || !Object.hasOwn(given, nameOf(key))))
    .map(([key, value]) => [nameOf(key), value] as const);
  return Object.fromEntries(named);
}

function toValidations(issue: Issue, schema: z.ZodObject): Validation[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const known = knownAt(schema, issue.path);
    return issue.keys.map((key) => ({ field: [...path, key].join("."), detail: unknownDetail(key, known) }));
  }
  return [{ field: path.join(".") || "arguments", detail: `is not acceptable: ${lowerFirst(issue.message)}` }];
}

function unknownDetail(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  if (meant) return `is no argument; did you mean "${meant}"?`;
  return known.length === 0 ? "is no argument; there are none" : `is no argument; known: ${known.join(", ")}`;
}

/** The names that an object somewhere inside the arguments may hold. */
function knownAt(schema: z.ZodObject, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const step of path) at = unwrap(typeof step === "number" ? elementOf(at) : shapeOf(at)[String(step)]);
  return Object.keys(shapeOf(at));
}

function unwrap(schema: unknown): unknown {
  const { unwrap: inner } = (schema ?? {}) as { unwrap?: () => unknown };
  return inner ? unwrap(inner.call(schema)) : schema;
}

function elementOf(schema: unknown): unknown {
  return (schema as { element?: unknown } | undefined)?.element;
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  return (schema as { shape?: Readonly<Record<string, unknown>> } | undefined)?.shape ?? {};
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
