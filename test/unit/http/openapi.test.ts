import { expect, test } from "vitest";
import { faults, type Route, routes } from "../../../src/contract/index.ts";
import { type OperationSchemas, operations } from "../../../src/contract/schemas.ts";
import { buildOpenApi } from "../../../src/http/index.ts";

interface Operation {
  operationId: string;
  parameters: { name?: string; in?: string; $ref?: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string }>;
  security?: unknown[];
}

interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>>; parameters: object };
}

const document = buildOpenApi("1.2.3") as unknown as Document;

test("describes every route, once, with its parameters and faults", () => {
  const found = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((o) => o.operationId));
  expect(found.sort()).toEqual(Object.keys(routes).sort());
  for (const [name, route] of Object.entries(routes) as [string, Route][]) {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    expect(operation?.operationId).toBe(name);
    const inPath = operation?.parameters.filter((p) => p.in === "path").map((p) => p.name);
    expect(inPath).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]));
    const query = Object.keys((operations as Record<string, OperationSchemas>)[name]?.query?.shape ?? {});
    expect(operation?.parameters.filter((p) => p.in === "query").map((p) => p.name)).toEqual(query);
    for (const code of route.faults) {
      expect(operation?.responses[String(faults[code].status)]?.description).toContain(code);
    }
  }
});

test("holds no reference that leads nowhere and no component that nothing refers to", () => {
  const text = JSON.stringify(document);
  const refs = new Set([...text.matchAll(/"\$ref":"([^"]*)"/g)].map((m) => m[1] ?? ""));
  for (const ref of refs) {
    const [hash, ...path] = ref.split("/");
    expect(hash).toBe("#");
    expect(
      path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document),
      ref,
    ).toBeDefined();
  }
  for (const name of Object.keys(document.components.schemas))
    expect(refs, name).toContain(`#/components/schemas/${name}`);
  expect(text).not.toContain("$schema");
});

test("is OpenAPI 3.1 with bearer security except where a route is open", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info.version).toBe("1.2.3");
  expect(document.paths["/healthz"]?.["get"]?.security).toEqual([]);
  expect(document.paths["/api/v0/status"]?.["get"]?.security).toBeUndefined();
});

test("leaves objects open, so that answers may grow and requests may hold more", () => {
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
  expect(document.components.schemas["StartRequest"]).not.toHaveProperty("required");
});
