import { z } from "zod";
import { type FaultCode, faults, type OperationName, type Route, routes } from "../contract/index.ts";
import { type OperationSchemas, operations } from "../contract/schemas.ts";

type Json = Record<string, unknown>;

/** The API as OpenAPI 3.1, read from the contract's table and its schemas. */
export function buildOpenApi(version: string): Json {
  const named = { input: namedSchemas("input"), output: namedSchemas("output") };
  const paths: Record<string, Json> = {};
  for (const name of Object.keys(routes) as OperationName[]) {
    const route: Route = routes[name];
    (paths[route.path] ??= {})[route.method.toLowerCase()] = describeOperation(name, route);
  }
  const document: Json = {
    openapi: "3.1.0",
    info: { title: "Drover", version, description: "Runs, watches and accounts for the processes of AI agents." },
    security: [{ bearer: [] }],
    paths,
  };
  const schemas: Record<string, unknown> = { FaultBody: faultBody };
  // Requests are described before defaults are filled in; a schema used on both sides has no defaults, so that either form is right.
  collect(document, { ...named.output, ...named.input }, schemas);
  return { ...document, components: { schemas, parameters: headerParameters, securitySchemes: { bearer } } };
}

const bearer = { type: "http", scheme: "bearer", description: "`drover token` prints it. The Unix socket needs none." };

const headerParameters = {
  ChatId: header("Coder-Chat-Id", "The chat that asks. Absent or not a UUID: no chat, everything is visible."),
  AncestorChatIds: header("Coder-Ancestor-Chat-Ids", "JSON array of the chats above this one."),
  Strict: header("Drover-Strict", "`1`: a field that does not exist is refused instead of ignored."),
  LastEventId: header("Last-Event-ID", "Goes on behind this event."),
};

const faultBody = {
  type: "object",
  required: ["message", "code"],
  properties: {
    message: { type: "string" },
    code: { type: "string", enum: Object.keys(faults) },
    detail: { type: "string" },
    validations: {
      type: "array",
      items: {
        type: "object",
        required: ["field", "detail"],
        properties: { field: { type: "string" }, detail: { type: "string" } },
      },
    },
    data: { type: "object" },
  },
};

function describeOperation(name: OperationName, route: Route): Json {
  const schemas: OperationSchemas = operations[name];
  const described: Json = {
    operationId: name,
    summary: route.summary,
    tags: [name.split(".")[0]],
    parameters: [...pathParameters(route), ...queryParameters(schemas), ...sharedParameters(route, schemas)],
    responses: { ...describeAnswer(name, route, schemas), ...describeFaults(route) },
  };
  if (route.open) described["security"] = [];
  if (route.body === "arguments") {
    const schema = { type: "object", description: "The tool's arguments; `GET /api/v0/tools` has their schemas." };
    described["requestBody"] = { required: false, content: { "application/json": { schema } } };
  } else if (schemas.body) {
    described["requestBody"] = {
      required: true,
      content: { "application/json": { schema: toJson(schemas.body, "input") } },
    };
  }
  if (route.body === "bytes") {
    described["requestBody"] = { required: true, content: { "application/octet-stream": {} } };
  }
  return described;
}

function describeAnswer(name: OperationName, route: Route, schemas: OperationSchemas): Json {
  const schema = toJson(schemas.output, "output");
  switch (route.answer) {
    case "json": {
      const content: Json = { "application/json": { schema } };
      if (name === "process.log") content["application/octet-stream"] = {};
      return { "200": { description: "Done.", content } };
    }
    case "text":
      return { "200": { description: "Done.", content: { "text/plain": { schema } } } };
    case "sse":
      return {
        "200": {
          description: "Events; `data` of the main one has this schema.",
          content: { "text/event-stream": { schema } },
        },
      };
    case "bytes":
      return { "200": { description: "The bytes.", content: { "application/octet-stream": {} } } };
    case "socket":
      return { "101": { description: "A WebSocket: binary frames are bytes, text frames are JSON control messages." } };
  }
}

const everywhere: readonly FaultCode[] = ["auth/foreign-host", "auth/foreign-origin", "internal/bug"];
const guarded: readonly FaultCode[] = [
  "auth/required",
  "auth/wrong-token",
  "auth/expired",
  "auth/chat-mismatch",
  "daemon/shutting-down",
];

function describeFaults(route: Route): Json {
  const refusals: FaultCode[] = [];
  if (route.changes) refusals.push("auth/read-only");
  if (route.unscoped) refusals.push("auth/out-of-scope");
  const codes = [...new Set<FaultCode>([...route.faults, ...refusals, ...(route.open ? [] : guarded), ...everywhere])];
  const answers: Record<string, Json> = {};
  for (const status of new Set(codes.map((code) => faults[code].status))) {
    const lines = codes
      .filter((code) => faults[code].status === status)
      .map((code) => `\`${code}\`: ${faults[code].doc}`);
    const content = { "application/json": { schema: { $ref: "#/components/schemas/FaultBody" } } };
    answers[String(status)] = { description: lines.join("\n\n"), content };
  }
  return answers;
}

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query }: OperationSchemas): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as Json;
    return { name, in: "query", required: required.includes(name), ...(description ? { description } : {}), schema };
  });
}

function sharedParameters(route: Route, { query }: OperationSchemas): Json[] {
  const names = route.path.startsWith("/api/v0/") ? ["ChatId", "AncestorChatIds", "Strict"] : [];
  if (query && "last_event_id" in query.shape) names.push("LastEventId");
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function header(name: string, description: string): Json {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}

/** A named schema as a reference; any other in place. */
function toJson(schema: z.ZodType, io: "input" | "output"): Json {
  const id = z.globalRegistry.get(schema)?.id;
  return id ? { $ref: refTo(id) } : plain(z.toJSONSchema(schema, { io }));
}

function namedSchemas(io: "input" | "output"): Record<string, Json> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { io, uri: refTo });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema)]));
}

const refTo = (id: string) => `#/components/schemas/${id}`;

/** Answers may grow fields, and requests ignore unknown ones: no object is closed. */
function plain(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "$schema" || key === "$id" || (key === "additionalProperties" && value === false) ? undefined : value,
  ) as Json;
}

/** Takes over every schema that is referred to, directly or by another. */
function collect(value: unknown, from: Record<string, Json>, into: Record<string, unknown>): void {
  for (const [, id = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = from[id];
    if (id in into || !schema) continue;
    into[id] = schema;
    collect(schema, from, into);
  }
}
