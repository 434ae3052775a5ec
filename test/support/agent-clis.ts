import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { root } from "./real-daemon.ts";

export type AgentName = "claude" | "codex" | "gemini" | "opencode";

/** What a skipped test names: it installs all four. */
export const howToGet = "node scripts/get-agent-clis.mjs";

interface AgentCli {
  readonly version: string;
  readonly binary: Readonly<Partial<Record<NodeJS.Architecture, string>>>;
}

/** The program inside the platform package: npm's own `claude` and `opencode` are stubs while install scripts are off. */
export function findAgentCli(name: AgentName): string | undefined {
  const { version, binary } = readClis()[name];
  const cache = process.env["DROVER_AGENT_CLIS"] || join(homedir(), ".cache/drover-agent-clis");
  const path = join(cache, `${name}-${version}`, "node_modules", binary[process.arch] ?? "unknown-architecture");
  return existsSync(path) ? path : undefined;
}

const readClis = (): Record<AgentName, AgentCli> =>
  JSON.parse(readFileSync(join(root, "test/support/agent-clis.json"), "utf8"));
