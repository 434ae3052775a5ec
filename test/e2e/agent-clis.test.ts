import { readdirSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentName, findAgentCli, howToGet } from "../support/agent-clis.ts";
import { recipes, runAgent } from "../support/agent-run.ts";
import { type Context, ModelServer, type Turn } from "../support/model-server.ts";
import { membersOf, program, RealDaemon, root } from "../support/real-daemon.ts";

// The CLIs are real, the model behind them is a script, and everything stays on loopback: what a CLI asks of other
// machines comes to the model server as its proxy, is refused and shows in its records.

let daemon: RealDaemon;
beforeAll(async () => {
  daemon = await RealDaemon.start();
});
afterAll(() => daemon.close());

/** Start to end on a quiet machine: claude 2 s, codex 1.5 s, gemini 2.5 s, opencode 5 s; six times that on a busy one. */
const timeoutMs = 100_000;
/** Who else a CLI may look for; it is refused. opencode wants its plugin package from npm whatever is configured, and goes on without. */
const otherMachines: Readonly<Partial<Record<AgentName, RegExp>>> = {
  opencode: /^CONNECT registry\.[a-z.]+:443$/,
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === "object" && address ? address.port : 0;
}

const isOpen = (port: number) =>
  new Promise<boolean>((done) => {
    const socket = connect(port, "127.0.0.1");
    const end = (open: boolean) => {
      socket.destroy();
      done(open);
    };
    socket.on("connect", () => end(true)).on("error", () => end(false));
  });

/** A dev server that needs a moment: started, waited for, read, stopped. */
function devServerScript(name: AgentName, port: number, seen: { text?: string }): Turn[] {
  const tool = (of: string) => recipes[name].toolName("drover", of);
  const id = (context: Context) => ({ process_id: context.found("process_id") });
  const command = `${program("listens")} ${port} 700 60`;
  return [
    { tool: tool("execute"), arguments: { command, run_in_background: true, model_intent: "start the dev server" } },
    { tool: tool("process_wait"), arguments: (context) => ({ ...id(context), for: { port }, timeout: "20s" }) },
    {
      tool: tool("process_output"),
      arguments: async (context) => {
        seen.text = await (await fetch(`http://127.0.0.1:${port}/`)).text();
        return { ...id(context), wait_timeout: "0s" };
      },
    },
    { tool: tool("process_stop"), arguments: id },
    { text: "The dev server ran and is gone." },
  ];
}

describe.each(Object.keys(recipes) as AgentName[])("%s with drover mcp", (name) => {
  test("starts a dev server, waits for its port, reads its output and stops it", { timeout: 120_000 }, async ({
    skip,
  }) => {
    const binary = findAgentCli(name);
    if (!binary) return skip(`${name} is not installed; get it with: ${howToGet}`);
    const port = await freePort();
    const seen: { text?: string } = {};
    const model = await ModelServer.start(devServerScript(name, port, seen));
    const mcp = {
      name: "drover",
      command: process.execPath,
      args: [join(root, "dist/cli/main.js"), "mcp", "--home", daemon.home],
    };
    const prompt = "Start the dev server, see that it works, stop it.";
    const run = await runAgent(name, { binary, modelUrl: model.url, mcp, prompt, timeoutMs }).finally(() =>
      model.close(),
    );

    expect(model.problems).toEqual([]);
    expect(run, run.stderr).toMatchObject({ code: 0, answer: "The dev server ran and is gone." });
    // Claude and Codex show the model the structured result, Gemini and opencode the text: one JSON object is in both.
    const [started, ready, read, stopped, ...rest] = model.results.map(({ value }) => value);
    const id = String(started?.["process_id"]);
    expect(started).toMatchObject({ success: true, backgrounded: true, process_id: expect.any(String) });
    expect(ready).toMatchObject({ success: true, process_id: id, running: true, fired: "port" });
    expect(seen.text).toBe("ok\n");
    expect(read).toMatchObject({ process_id: id, running: true });
    expect(model.results[2]?.text).toContain(`listening on ${port}`);
    expect(stopped).toMatchObject({ success: true, process_id: id });
    expect(rest).toEqual([]);

    const record = await daemon.process("GET", id);
    expect(record.body).toMatchObject({ state: "exited" });
    expect(membersOf(id, readdirSync("/proc"))).toEqual([]);
    expect(await isOpen(port)).toBe(false);
    const strangers = model.requests.filter(({ dialect }) => !dialect).map(({ method, path }) => `${method} ${path}`);
    expect(strangers.filter((one) => !otherMachines[name]?.test(one))).toEqual([]);
  });
});
