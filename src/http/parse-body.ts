import type { z } from "zod";
import { nearest } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import { fitKeys, shapeOf, type UnknownField } from "./body-shape.ts";
import { parseFirstJson } from "./first-json.ts";
import { type Issue, invalidFields, isWrongType, wrongType } from "./validation.ts";

export type BodyParser = (text: string, strict: boolean) => object;

const message = "Request body must be valid JSON.";

/**
 * A parser with the manners of Go's decoder, which clients of the original API rely on: the Content-Type does not matter, only the
 * first value counts, names match in any case, `null` is absent, unknown names are ignored unless the caller is strict.
 */
export function createBodyParser(schema: z.ZodObject): BodyParser {
  const shape = shapeOf(schema);
  return (text, strict) => {
    const value = parseJson(text);
    const fitted = fitKeys(value ?? {}, shape, strict ? refuseUnknown : () => {});
    const result = schema.safeParse(fitted);
    if (result.success) return result.data;
    throw toFault(result.error.issues, fitted);
  };
}

/** A body that is one object, whatever it holds; `null` is an empty one. */
export function parseObject(text: string): object {
  const value = parseJson(text) ?? {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw new Fault("request/invalid-json", message, { detail: "The body must be an object." });
}

function parseJson(text: string): unknown {
  if (text.trim() === "")
    throw new Fault("request/invalid-json", message, { detail: "The body is empty; send at least {}." });
  try {
    return parseFirstJson(text);
  } catch (error) {
    throw new Fault("request/invalid-json", message, { detail: (error as Error).message, cause: error });
  }
}

function refuseUnknown({ path, known }: UnknownField): never {
  const meant = nearest(path.slice(path.lastIndexOf(".") + 1), known);
  const hint = meant ? `Did you mean "${meant}"?` : `Known here: ${known.join(", ")}.`;
  throw new Fault("request/unknown-field", `There is no field "${path}". ${hint}`, {
    validations: [{ field: path, detail: hint }],
  });
}

/** A wrong type is a decode error, as in Go; a value of the right type that is out of bounds is named per field. */
function toFault(issues: readonly Issue[], value: unknown): Fault {
  const wrong = issues.find((issue) => isWrongType(issue, value));
  if (wrong) return new Fault("request/invalid-json", message, { detail: wrongType(wrong, value) });
  return invalidFields(issues);
}
