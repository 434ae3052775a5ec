// Usage: node scripts/finish-build.mjs   (the last step of `npm run build`)
// Makes the CLI executable and leaves dist/.stamp, by which ./drover sees whether a source is newer than the build.
import { chmodSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
chmodSync(`${dist}cli/main.js`, 0o755);
// ./drover marks when the build began: a source that is edited while tsc runs must count as newer.
if (existsSync(`${dist}.began`)) renameSync(`${dist}.began`, `${dist}.stamp`);
else writeFileSync(`${dist}.stamp`, "");
