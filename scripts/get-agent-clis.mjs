// usage: node scripts/get-agent-clis.mjs [claude|codex|gemini|opencode ...]
//
// Installs the agent CLIs that test/e2e/agent-clis.test.ts drives (all four without a name: about 1.1 GB), in the exact
// versions of test/support/agent-clis.json, into $DROVER_AGENT_CLIS or ~/.cache/drover-agent-clis. No install script runs.
// What is there already is left alone; a folder appears under its name only when it is complete.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const clis = JSON.parse(readFileSync(join(root, "test/support/agent-clis.json"), "utf8"));
const cache = process.env.DROVER_AGENT_CLIS || join(homedir(), ".cache/drover-agent-clis");
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(clis);

for (const name of names) {
  if (!clis[name]) {
    console.error(`unknown agent CLI: ${name}; known: ${Object.keys(clis).join(", ")}`);
    process.exit(2);
  }
}
mkdirSync(cache, { recursive: true });
for (const name of names) get(name, clis[name]);

function get(name, { package: npmPackage, version, binary }) {
  const place = join(cache, `${name}-${version}`);
  const program = join("node_modules", binary[process.arch] ?? "");
  if (existsSync(join(place, program))) return console.log(`${name} ${version} is there`);
  const fresh = mkdtempSync(join(cache, `.${name}-`));
  try {
    writeFileSync(join(fresh, "package.json"), '{ "private": true }\n');
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    const npm = spawnSync("npm", ["install", ...flags, `${npmPackage}@${version}`], { cwd: fresh, stdio: "inherit" });
    if (npm.status !== 0) throw new Error(`npm install ${npmPackage}@${version} failed`);
    if (!existsSync(join(fresh, program))) throw new Error(`${npmPackage}@${version} has no ${program}`);
    rmSync(place, { recursive: true, force: true });
    renameSync(fresh, place);
    console.log(`${name} ${version} installed`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
