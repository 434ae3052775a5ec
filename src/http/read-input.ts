import { z } from "zod";
import { type OperationName, type Route, routes } from "../contract/index.ts";
import { type OperationSchemas, operations } from "../contract/schemas.ts";
import type { Exchange } from "./exchange.ts";
import { createBodyParser, parseObject } from "./parse-body.ts";
import { createQueryParser } from "./parse-query.ts";
import { readBody } from "./read-body.ts";

/** Path parameters, query and body of a request in one object, checked. */
export type InputReader = (exchange: Exchange, parameters: Readonly<Record<string, string>>) => Promise<object>;

/** Made once per route, so that a request pays for parsing only. */
export function createInputReader(name: OperationName): InputReader {
  const schemas: OperationSchemas = operations[name];
  const route: Route = routes[name];
  const querySchema = schemas.query ?? (route.closedQuery && z.object({}));
  const parseQuery = querySchema && createQueryParser(querySchema);
  const parseBody = route.body === "arguments" ? parseArguments : schemas.body && createBodyParser(schemas.body);
  const resumes = schemas.query !== undefined && "last_event_id" in schemas.query.shape;
  const empty = route.emptyBody ? "{}" : "";
  return async (exchange, parameters) => {
    const { strict } = exchange.caller;
    const lastId = resumes ? exchange.header("last-event-id") : undefined;
    const fromHeader = lastId === undefined ? undefined : { last_event_id: lastId };
    const query = parseQuery?.(exchange.search, strict || route.closedQuery === true, fromHeader);
    const body =
      parseBody && route.method === "POST" ? parseBody((await readBody(exchange.request)) || empty, strict) : undefined;
    // The path comes last: nothing in a query or a body can change whom the request is about. The query stands in the address too.
    return { ...body, ...query, ...parameters };
  };
}

/** The body as a whole is one field of the input. */
function parseArguments(text: string): object {
  return { arguments: parseObject(text) };
}
