// usage: npm run reference
//
// Writes docs/reference/{http,faults,config,tools}.md, openapi.json and src/sdk/tool-definitions.ts from the contract in dist/. A test
// fails when they are not the newest.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { faults, routes } = await import(join(root, "dist/contract/index.js"));
const { configSchema, toolSets, toToolSchema } = await import(join(root, "dist/contract/schemas.js"));
const { buildOpenApi } = await import(join(root, "dist/http/index.js"));
const made = "<!-- Written by `npm run reference`. -->\n\n";
const folder = join(root, "docs/reference");

const rows = Object.entries(faults).map(([code, f]) => `| \`${code}\` | ${f.status} | ${f.exit} | ${f.doc} |`);
const faultPage = `# Faults\n\n${made}Every expected failure. The body of an HTTP answer is \`{"message", "code", "detail"?, "validations"?, "data"?}\`.\n\n| code | status | exit code | what it means |\n|---|---|---|---|\n${rows.join("\n")}\n`;

const list = Object.entries(routes).map(
  ([name, r]) =>
    `| \`${r.method} ${r.path}\` | \`${name}\` | ${r.summary} | ${r.answer}${r.open ? ", no token" : ""} |`,
);
const httpPage = `# HTTP\n\n${made}Schemas of every body and answer: [openapi.json](openapi.json), also served at \`/api/v0/openapi.json\`.\n\n| route | operation | what it does | answer |\n|---|---|---|---|\n${list.join("\n")}\n`;

const config = z.toJSONSchema(configSchema, { io: "input" }).$defs.Config;
const keys = Object.entries(config.properties).map(
  ([key, s]) =>
    `| \`${key}\` | ${s.enum ? s.enum.join(", ") : s.type} | ${s.default === undefined ? "" : `\`${JSON.stringify(s.default)}\``} | ${s.description ?? ""} |`,
);
const configPage = `# Configuration\n\n${made}\`config.json\` in DROVER_HOME (default \`~/.drover\`). An unknown key is refused with the nearest right one; changes apply at restart, which costs nothing here.\n\n| key | value | default | meaning |\n|---|---|---|---|\n${keys.join("\n")}\n`;

const argumentRows = (schema) =>
  Object.entries(schema.properties ?? {}).map(
    ([name, s]) =>
      `| \`${name}\`${schema.required?.includes(name) ? " (required)" : ""} | ${s.enum ? s.enum.join(", ") : s.type} | ${s.description ?? ""} |`,
  );
const toolSection = ({ name, description, input }) => {
  const rows = argumentRows(toToolSchema(input));
  const table = rows.length
    ? `\n\n| argument | type | meaning |\n|---|---|---|\n${rows.join("\n")}`
    : "\n\nNo arguments.";
  return `### ${name}\n\n${description}${table}\n`;
};
const toolSetPages = Object.entries(toolSets).map(([set, list]) => {
  const known = new Set(toolSets.drover.map((tool) => tool.name));
  const own = set === "drover" ? list : list.filter((tool) => !known.has(tool.name));
  const plain = list.filter((tool) => !own.includes(tool)).map((tool) => `\`${tool.name}\``);
  const rest = plain.length ? `\nUnder their own names: ${plain.join(", ")}.\n` : "";
  return `## Set \`${set}\`\n\n${own.map(toolSection).join("\n")}${rest}`;
});
const toolPage = `# Model tools\n\n${made}\`GET /api/v0/tools?set=\` lists them with their JSON Schemas, \`POST /api/v0/tools/{name}?set=\` calls one with its arguments as the body. Durations are Go's (\`30s\`, \`1m30s\`). No call blocks longer than 45 s.\n\n${toolSetPages.join("\n")}`;

const declarations = Object.entries(toolSets).map(([set, list]) => {
  const lines = list.map(({ name, title, description, input, annotations }) =>
    JSON.stringify({ name, title, description, input_schema: toToolSchema(input), annotations }),
  );
  return `  "${set}": [\n    ${lines.join(",\n    ")},\n  ],`;
});
const toolModule = `// biome-ignore-all format: written by \`npm run reference\` from contract/tools.ts
import type { ToolAnnotations, ToolSetName } from "../contract/index.ts";

/** One tool as plain data. */
export interface ToolDeclaration {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
}

/** Every set of model tools, without any schema library. */
export const toolDeclarations: Readonly<Record<ToolSetName, readonly ToolDeclaration[]>> = {
${declarations.join("\n")}
};
`;

mkdirSync(folder, { recursive: true });
mkdirSync(join(root, "src/sdk"), { recursive: true });
writeFileSync(join(folder, "tools.md"), toolPage);
writeFileSync(join(root, "src/sdk/tool-definitions.ts"), toolModule);
writeFileSync(join(folder, "faults.md"), faultPage);
writeFileSync(join(folder, "http.md"), httpPage);
writeFileSync(join(folder, "config.md"), configPage);
writeFileSync(join(folder, "openapi.json"), `${JSON.stringify(buildOpenApi("0"), null, 2)}\n`);
