// npm run bench -- [question…] [--json] [--strict] [--write]
// Asks each question in turn; see README.md. Exit code: 0, or 2 when a question failed to run, or 1 with --strict when a bound is broken.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startChildDaemon, startDrover } from "./support/daemons.mjs";
import { describeRun } from "./support/machine.mjs";
import { Report } from "./support/report.mjs";

const questions = ["start", "throughput", "event-loop", "bulk", "memory", "waiter", "adopt", "mcp", "git-watch"];
const flag = { type: "boolean", default: false };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: flag, strict: flag, write: flag },
});
const unknown = positionals.filter((name) => !questions.includes(name));
if (unknown.length) {
  console.error(`No question "${unknown[0]}". There are: ${questions.join(", ")}.`);
  process.exit(2);
}

const directory = mkdtempSync(join(process.env.BENCH_DIR ?? "/var/tmp", "drover-bench-"));
// ext4 makes files slowly where many were deleted within the last minutes (it passes over their inodes one by one), and homes lie
// in the block group of their parent. This flag gives each home a group of its own; where it is unknown nothing changes.
spawnSync("chattr", ["+T", directory], { stdio: "ignore" });
const report = new Report(values.json);
report.facts(describeRun(directory));
let errors = 0;
for (const name of positionals.length ? positionals : questions) errors += await ask(name);
removeDirectory();
if (values.write) writeFileSync(new URL("RESULTS.md", import.meta.url), resultsPage(report.text));
process.exitCode = errors ? 2 : values.strict && report.failures ? 1 : 0;

/** Hands a question what it needs and takes back, in any case, everything that it started. */
async function ask(name) {
  const { words, answer } = await import(`./${name}.mjs`);
  const opened = [];
  const track = async (starting) => {
    const daemon = await starting;
    opened.push(daemon);
    return daemon;
  };
  let homes = 0;
  const newHome = () => join(directory, `${name}-${++homes}`);
  const bench = {
    report,
    directory,
    newHome,
    startDrover: (options = {}) => track(startDrover({ home: newHome(), ...options })),
    startChildDaemon: (options = {}) => track(startChildDaemon(options)),
  };
  report.open(name, words);
  try {
    await answer(bench);
    return 0;
  } catch (error) {
    report.error(name, error);
    return 1;
  } finally {
    for (const daemon of opened.reverse()) await daemon.stop();
  }
}

function removeDirectory() {
  if (errors) console.error(`Kept ${directory}: a question failed.`);
  else rmSync(directory, { recursive: true, force: true });
}

function resultsPage(text) {
  return `# Results\n\nWritten by \`npm run bench -- --write\`. How to read it: [README.md](README.md).\n\n\`\`\`\n${text.trim()}\n\`\`\`\n`;
}
