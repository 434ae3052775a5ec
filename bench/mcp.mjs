import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { HttpClient } from "./support/http-client.mjs";
import { interleave, least, median, quantile } from "./support/statistics.mjs";
import { startTrue } from "./support/work.mjs";

export const words = "the tool call `execute true`, end to end, against the plain API";

const ROUNDS = 25;
const RUNS = 12;
const WARM_UP = 300;
const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const tool = { name: "execute", arguments: { command: "true" } };

export async function answer(bench) {
  const { report } = bench;
  const daemon = await bench.startDrover();
  const variants = {
    "POST /processes/start": await openStart(daemon),
    "POST /tools/execute": await openTool(daemon),
    "MCP stdio, bare pipe": await openPipe(daemon),
    "MCP stdio, client library": await openLibrary(stdioTo(daemon), "2025-11-25"),
    "MCP HTTP 2026, client library": await openLibrary(httpTo(daemon), "2026-07-28"),
    "MCP HTTP 2025, client library": await openLibrary(httpTo(daemon), "2025-11-25"),
  };
  for (const { call } of Object.values(variants)) for (let i = 0; i < WARM_UP; i++) await call();
  const us = await interleave(variants, ROUNDS, async ({ call }) => timed(call));
  for (const { close } of Object.values(variants)) await close();

  const floor = us["POST /processes/start"];
  const row = (name) => {
    const [min, p50, p99] = [0, 0.5, 0.99].map((p) => quantile(us[name], p));
    return [name, min, p50, p99, min - least(floor)];
  };
  report.table([["execute true, µs", "min", "p50", "p99", "min added"], ...Object.keys(variants).map(row)]);
  const added = (name) => (least(us[name]) - least(floor)) / 1000;
  const times = (name) => median(us[name]) / median(floor);
  const ms = { unit: "ms", atMost: 1.5 };
  report.verdict({ measure: "added by MCP stdio, minimum", value: added("MCP stdio, bare pipe"), ...ms });
  report.verdict({
    measure: "added by MCP HTTP, minimum",
    value: added("MCP HTTP 2026, client library"),
    ...ms,
    atMost: 3,
  });
  report.verdict({
    measure: "MCP stdio, p50",
    value: times("MCP stdio, bare pipe"),
    unit: "× the plain API",
    atMost: 2,
  });
}

async function timed(call) {
  const us = [];
  await call(); // the caches are another variant's
  for (let i = 0; i < RUNS; i++) {
    const from = performance.now();
    await call();
    us.push((performance.now() - from) * 1000);
  }
  return us;
}

async function openStart(daemon) {
  const client = await HttpClient.connect(daemon);
  return { call: () => startTrue(client), close: () => client.close() };
}

async function openTool(daemon) {
  const client = await HttpClient.connect(daemon);
  const call = async () => check(await client.post("/api/v0/tools/execute", tool.arguments));
  return { call, close: () => client.close() };
}

/** The protocol with nothing between: what `drover mcp` itself costs. */
async function openPipe(daemon) {
  const child = spawn(process.execPath, [main, "mcp", "--home", daemon.home], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message.result);
    waiting.delete(message.id);
  });
  let last = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++last, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
    });
  const clientInfo = { name: "bench", version: "1" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return {
    call: async () => check((await ask("tools/call", tool)).structuredContent),
    close: () => new Promise((resolve) => child.once("exit", resolve) && child.stdin.end()),
  };
}

async function openLibrary(transport, protocol) {
  const mode = protocol === "2026-07-28" ? { pin: protocol } : "legacy";
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return { call: async () => check((await client.callTool(tool)).structuredContent), close: () => client.close() };
}

const stdioTo = ({ home }) =>
  new StdioClientTransport({ command: process.execPath, args: [main, "mcp", "--home", home] });

const httpTo = ({ url, token }) =>
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });

function check(result) {
  if (result?.exit_code !== 0) throw new Error(`wrong answer: ${JSON.stringify(result)}`);
}
