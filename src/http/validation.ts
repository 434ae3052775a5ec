import type { z } from "zod";
import { Fault } from "../contract/index.ts";

export type Issue = z.core.$ZodIssue;

/** Every field that was not acceptable, by name. */
export function invalidFields(issues: readonly Issue[]): Fault {
  const validations = issues.map((issue) => ({ field: fieldOf(issue), detail: issue.message }));
  const first = validations[0];
  const more = validations.length > 1 ? ` (and ${validations.length - 1} more)` : "";
  return new Fault("request/invalid", `"${first?.field}" is not acceptable: ${first?.detail}${more}.`, { validations });
}

/** The field has a value of another JSON type than the schema's, which no value of the right type could repair. */
export function isWrongType(issue: Issue, value: unknown): boolean {
  const found = valueAt(value, issue.path);
  if (found === undefined) return false;
  if (issue.code === "invalid_type") return true;
  if (issue.code === "invalid_value") return typeof found !== typeof issue.values[0];
  if (issue.code !== "invalid_union") return false;
  return issue.errors.every((branch) =>
    branch.some((inner) => inner.code === "invalid_type" && inner.path.length === 0),
  );
}

/** Says what a field of a wrong type should have been. */
export function wrongType(issue: Issue, value: unknown): string {
  const found = nameOf(valueAt(value, issue.path));
  const field = fieldOf(issue);
  return field ? `"${field}" must be ${expected(issue)}, not ${found}.` : `The body must be an object, not ${found}.`;
}

function expected(issue: Issue): string {
  if (issue.code === "invalid_type") return withArticle(issue.expected === "record" ? "object" : issue.expected);
  if (issue.code === "invalid_value") return withArticle(typeof issue.values[0]);
  if (issue.code === "invalid_union") return issue.errors.flat().map(expected).join(" or ");
  return issue.message;
}

function fieldOf(issue: Issue): string {
  return issue.path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | undefined)?.[part], value);
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" && !Number.isInteger(value)) return `the number ${value}`;
  return withArticle(typeof value);
}

function withArticle(word: string): string {
  const full = word === "int" ? "integer" : word;
  return /^[aeiou]/.test(full) ? `an ${full}` : `a ${full}`;
}
