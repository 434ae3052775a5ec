// tools: what a model's tool call means, decided without touching anything.
//
// Tools are declared in contract/tools.ts and carried out in operations/tools.ts; what lies between is here, as pure functions:
// arguments are checked with the nearest right name at hand, durations read, a trailing `&` found as a shell finds it, output cut
// to one budget whose end is sacred, and calls written in the words of the set that the model was given.
//
// Invariants: no I/O, no state, no clock; nothing is said that is not known; every hole in an output is named to the byte.
//
// Read: arguments.ts, trailing-ampersand.ts (with shell-lexer.ts), budget.ts (with line-cut.ts), choose-process.ts, calls.ts.
export { adviceFor } from "./advice.ts";
export { badArguments, checkArguments, unknownTool } from "./arguments.ts";
export { type Fitted, fitOutput, holeMark, type LogSource, type Range } from "./budget.ts";
export { sayCall } from "./calls.ts";
export { chooseProcess, isPrefix, type Named } from "./choose-process.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { toolEnvironment } from "./environment.ts";
export { cutLines } from "./line-cut.ts";
export { findTrailingAmpersand, withoutTrailingAmpersand } from "./trailing-ampersand.ts";
