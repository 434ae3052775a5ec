import type { z } from "zod";
import { nearest } from "../base/index.ts";
import { Fault } from "../contract/index.ts";
import { invalidFields } from "./validation.ts";

/** `search` is what stands behind the `?`; `header` holds values that headers carry for query fields. */
export type QueryParser = (search: string, strict: boolean, header?: Readonly<Record<string, string>>) => object;

/** Of a name given twice the first counts; an empty value is the same as none. */
export function createQueryParser(schema: z.ZodObject): QueryParser {
  const known = Object.keys(schema.shape);
  const none = schema.safeParse({});
  return (search, strict, header) => {
    if (search === "" && !header && none.success) return none.data;
    const given: Record<string, string> = {};
    for (const [name, value] of new URLSearchParams(search)) {
      if (!known.includes(name)) {
        if (strict) throw unknownName(name, known);
      } else if (value !== "") given[name] ??= value;
    }
    const result = schema.safeParse({ ...given, ...header });
    if (result.success) return result.data;
    throw invalidFields(result.error.issues);
  };
}

function unknownName(name: string, known: readonly string[]): Fault {
  const meant = nearest(name, known);
  const others = known.length === 0 ? "This route has none." : `Known here: ${known.join(", ")}.`;
  const hint = meant ? `Did you mean "${meant}"?` : others;
  return new Fault("request/unknown-field", `There is no query parameter "${name}". ${hint}`, {
    validations: [{ field: name, detail: hint }],
  });
}
