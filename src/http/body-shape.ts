import { z } from "zod";

/** How a value is laid out, as far as keys go: made once per schema, walked once per request. */
export type Shape =
  | {
      readonly kind: "object";
      readonly fields: ReadonlyMap<string, Shape>;
      readonly folded: ReadonlyMap<string, string>;
    }
  | { readonly kind: "list"; readonly item: Shape }
  | { readonly kind: "record" }
  | { readonly kind: "plain" };

/** A field that the shape does not have. */
export interface UnknownField {
  readonly path: string;
  readonly known: readonly string[];
}

const plain: Shape = { kind: "plain" };

export function shapeOf(schema: unknown): Shape {
  if (schema instanceof z.ZodOptional) return shapeOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return { kind: "list", item: shapeOf(schema.element) };
  if (schema instanceof z.ZodRecord) return { kind: "record" };
  if (schema instanceof z.ZodUnion) {
    return schema.options.map(shapeOf).find((option) => option.kind === "object") ?? plain;
  }
  if (!(schema instanceof z.ZodObject)) return plain;
  const fields = new Map(Object.entries(schema.shape).map(([name, field]) => [name, shapeOf(field)]));
  return { kind: "object", fields, folded: new Map([...fields.keys()].map((name) => [name.toLowerCase(), name])) };
}

/**
 * The value with the keys that the schema knows, as Go's decoder sees it: names in any case (the exact one wins), `null` as if the
 * field were absent, and in a map of text as the empty text. Calls `onUnknown` for what is left out.
 */
export function fitKeys(value: unknown, shape: Shape, onUnknown: (field: UnknownField) => void, path = ""): unknown {
  if (shape.kind === "plain" || value === null || typeof value !== "object") return value;
  if (shape.kind === "list") {
    return Array.isArray(value) ? value.map((item, i) => fitKeys(item, shape.item, onUnknown, `${path}[${i}]`)) : value;
  }
  if (Array.isArray(value)) return value;
  if (shape.kind === "record") return withoutNulls(value);
  const given = value as Record<string, unknown>;
  const fitted: Record<string, unknown> = {};
  for (const key of Object.keys(given)) {
    const name = shape.fields.has(key) ? key : shape.folded.get(key.toLowerCase());
    const field = name === undefined ? undefined : shape.fields.get(name);
    if (name === undefined || !field) onUnknown({ path: join(path, key), known: [...shape.fields.keys()] });
    else if (given[key] !== null && (name === key || !Object.hasOwn(given, name))) {
      fitted[name] = fitKeys(given[key], field, onUnknown, join(path, name));
    }
  }
  return fitted;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function withoutNulls(value: object): object {
  const entries = Object.entries(value);
  if (entries.every(([, item]) => item !== null)) return value;
  return Object.fromEntries(entries.map(([key, item]) => [key, item ?? ""]));
}
