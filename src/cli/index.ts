// cli: the `drover` command. A door like HTTP: it asks the daemon through the client and shows the answer.
//
// main.ts reads the surroundings once (config.ts), builds the tree of commands (program.ts, one file each in commands/) and turns
// every failure into a message and an exit code (report.ts). Commands are handed a Context and return their exit code.
//
// Invariants: only config.ts reads the environment and only output.ts writes; data goes to stdout, words about it to stderr;
// colour means state, and there is none in a pipe; no command that ends, is interrupted or fails touches a process that it was
// not told to touch; a terminal is given back as it was found; `--help` and `ps` load neither the daemon nor a schema library.
//
// Read: main.ts, program.ts, command.ts, connection.ts, daemon-process.ts, then commands/.
export { createProgram } from "./program.ts";
