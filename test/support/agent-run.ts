import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentName } from "./agent-clis.ts";
import { root } from "./real-daemon.ts";

/** An MCP server over stdio, as every CLI's configuration names it. */
export interface StdioServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface AgentRun {
  /** 128 + N when signal N ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** The model's last words; undefined without the event that says the run ended well. */
  readonly answer: string | undefined;
}

/** A line of any CLI's output, with the fields that are looked at here. */
interface Line {
  readonly type?: string;
  readonly result?: string;
  readonly is_error?: boolean;
  readonly item?: { readonly type?: string; readonly text?: string };
  readonly role?: string;
  readonly content?: string;
  readonly status?: string;
  readonly part?: { readonly text?: string; readonly reason?: string };
}

interface Place {
  readonly home: string;
  readonly modelUrl: string;
  readonly mcp: StdioServer;
}

interface Recipe {
  /** What the CLI calls an MCP server's tool when it offers it to the model. */
  toolName(server: string, tool: string): string;
  env(place: Place): Record<string, string>;
  args(place: Place): string[];
  /** Below HOME. */
  files(place: Place): Record<string, string>;
  answer(lines: readonly Line[]): string | undefined;
}

/** How each CLI is made to use the scripted model and one MCP server, headless, as its own documentation says. */
export const recipes: Readonly<Record<AgentName, Recipe>> = {
  claude: {
    toolName: (server, tool) => `mcp__${server}__${tool}`,
    env: ({ modelUrl }) => ({
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "any",
      IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
    }),
    args: ({ home }) => [
      "-p",
      "--output-format=stream-json",
      "--verbose",
      "--dangerously-skip-permissions",
      `--mcp-config=${join(home, "mcp.json")}`,
      "--strict-mcp-config",
    ],
    files: ({ mcp: { name, command, args } }) => ({
      "mcp.json": JSON.stringify({ mcpServers: { [name]: { type: "stdio", command, args } } }),
    }),
    answer: (lines) => lines.findLast(({ type, is_error: wrong }) => type === "result" && !wrong)?.result,
  },
  codex: {
    toolName: (server, tool) => `mcp__${server}.${tool}`,
    env: () => ({ LOOP_KEY: "any" }),
    args: () => ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-"],
    files: ({ modelUrl, mcp }) => ({ ".codex/config.toml": codexConfig(modelUrl, mcp) }),
    answer: (lines) =>
      lines.some(({ type }) => type === "turn.completed")
        ? lines.findLast(({ item }) => item?.type === "agent_message")?.item?.text
        : undefined,
  },
  gemini: {
    toolName: (server, tool) => `mcp_${server}_${tool}`,
    env: ({ modelUrl }) => ({
      GEMINI_API_KEY: "any",
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_CLI_NO_RELAUNCH: "true",
    }),
    args: () => ["-m", "gemini-2.5-flash", "-o", "stream-json", "--approval-mode=yolo", "--skip-trust"],
    files: ({ mcp: { name, command, args } }) => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 1 },
        telemetry: { enabled: false },
        mcpServers: { [name]: { command, args } },
      }),
    }),
    answer: (lines) =>
      lines.some(({ type, status }) => type === "result" && status === "success")
        ? lines.map(({ role, content = "" }) => (role === "assistant" ? content : "")).join("")
        : undefined,
  },
  opencode: {
    toolName: (server, tool) => `${server}_${tool}`,
    env: (place) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(place)),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    }),
    args: () => ["run", "--format", "json", "--title", "t"],
    files: () => ({}),
    answer: (lines) =>
      lines.findLast(({ type }) => type === "step_finish")?.part?.reason === "stop"
        ? lines.findLast(({ type }) => type === "text")?.part?.text
        : undefined,
  },
};

/** Runs one prompt in a HOME of its own with nothing of our environment, below the reaper, and waits for its end. */
export async function runAgent(
  name: AgentName,
  o: { binary: string; modelUrl: string; mcp: StdioServer; prompt: string; timeoutMs: number },
): Promise<AgentRun> {
  const home = mkdtempSync(join(tmpdir(), `drover-${name}-`));
  const place: Place = { home, modelUrl: o.modelUrl, mcp: o.mcp };
  const recipe = recipes[name];
  try {
    for (const [path, text] of Object.entries(recipe.files(place))) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text, { mode: 0o600 });
    }
    for (const folder of ["work", "tmp"]) mkdirSync(join(home, folder));
    const program = o.binary.endsWith(".js") ? [process.execPath, o.binary] : [o.binary];
    // Whatever would leave the machine is asked of the model server instead, which records and refuses it.
    const proxy = { HTTPS_PROXY: o.modelUrl, NO_PROXY: "127.0.0.1,localhost" };
    const ended = await run([...program, ...recipe.args(place)], {
      cwd: join(home, "work"),
      env: { HOME: home, PATH: "/usr/bin:/bin", TMPDIR: join(home, "tmp"), ...proxy, ...recipe.env(place) },
      prompt: o.prompt,
      timeoutMs: o.timeoutMs,
    });
    return { ...ended, answer: recipe.answer(linesOf(ended.stdout)) };
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function run(
  argv: readonly string[],
  o: { cwd: string; env: Record<string, string>; prompt: string; timeoutMs: number },
): Promise<Omit<AgentRun, "answer">> {
  const begun = Date.now();
  const child = spawn(join(root, "build/test/reaper"), argv, { cwd: o.cwd, env: o.env, stdio: "pipe" });
  const text = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (piece: string) => {
      text[stream] += piece;
    });
  }
  child.stdin.on("error", () => {}).end(o.prompt); // an end before the prompt is read shows in the exit code
  const timer = setTimeout(() => child.kill("SIGTERM"), o.timeoutMs);
  const hard = setTimeout(() => child.kill("SIGKILL"), o.timeoutMs + 5000);
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      clearTimeout(timer);
      clearTimeout(hard);
      done({ code, ...text, durationMs: Date.now() - begun });
    });
  });
}

const linesOf = (text: string): Line[] =>
  text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));

const codexConfig = (modelUrl: string, mcp: StdioServer) => `model = "scripted"
model_provider = "loop"
[model_providers.loop]
name = "loop"
base_url = "${modelUrl}/v1"
env_key = "LOOP_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[features]
plugins = false
apps = false
[mcp_servers.${mcp.name}]
command = ${JSON.stringify(mcp.command)}
args = ${JSON.stringify(mcp.args)}
`;

const opencodeConfig = ({ modelUrl, mcp: { name, command, args } }: Place) => ({
  model: "loop/scripted",
  small_model: "loop/scripted",
  autoupdate: false,
  share: "disabled",
  provider: {
    loop: {
      npm: "@ai-sdk/openai-compatible",
      name: "loop",
      options: { baseURL: `${modelUrl}/v1`, apiKey: "any" },
      models: { scripted: { name: "scripted", limit: { context: 200_000, output: 8000 } } },
    },
  },
  mcp: { [name]: { type: "local", command: [command, ...args], enabled: true } },
});
