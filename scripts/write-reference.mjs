// usage: npm run reference
//
// Writes docs/reference/{http,faults,config}.md and openapi.json from the contract in dist/. A test fails when they are not the newest.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { faults, routes } = await import(join(root, "dist/contract/index.js"));
const { configSchema } = await import(join(root, "dist/contract/schemas.js"));
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

const config = z.toJSONSchema(configSchema, { io: "input" });
const keys = Object.entries(config.properties).map(
  ([key, s]) =>
    `| \`${key}\` | ${s.enum ? s.enum.join(", ") : s.type} | ${s.default === undefined ? "" : `\`${JSON.stringify(s.default)}\``} | ${s.description ?? ""} |`,
);
const configPage = `# Configuration\n\n${made}\`config.json\` in DROVER_HOME (default \`~/.drover\`). An unknown key is refused with the nearest right one; changes apply at restart, which costs nothing here.\n\n| key | value | default | meaning |\n|---|---|---|---|\n${keys.join("\n")}\n`;

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "faults.md"), faultPage);
writeFileSync(join(folder, "http.md"), httpPage);
writeFileSync(join(folder, "config.md"), configPage);
writeFileSync(join(folder, "openapi.json"), `${JSON.stringify(buildOpenApi("0"), null, 2)}\n`);
