// mcp: the door for models. The tools of contract's table and the logs of processes, in the Model Context Protocol.
//
// The room is handed one `Invoke`: the operations inside the daemon (`/mcp`), the client in `drover mcp` (stdio). The library does
// the protocol, in its newest revision and those before; what is ours is what a call means.
//
// Invariants: a call that is cancelled stops waiting and touches no process; no call lasts longer than the tools' own bound; a
// command is never started twice, also when the daemon goes away in the middle of a call; a client hears of what its caller may
// see and of nothing else; nonsense is answered with an error of the protocol and ends nothing.
//
// Read: server.ts, tool-call.ts, answer.ts, progress.ts, resources.ts, resource-watch.ts; then stdio.ts, http.ts.
export { createMcpHttp, type McpHttp, type McpRequest } from "./http.ts";
export type { CalledOperation, HeardEvent, Invoke, InvokeOptions } from "./invoke.ts";
export { type StdioOptions, serveMcpStdio } from "./stdio.ts";
