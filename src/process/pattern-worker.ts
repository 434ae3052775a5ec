// The thread in which callers' patterns run, so that one that takes for ever can be ended with it. Started by pattern-pool.ts.
import { parentPort } from "node:worker_threads";
import { findLines, findMatch, type PatternJob } from "./pattern.ts";

parentPort?.on("message", (job: PatternJob) => {
  parentPort?.postMessage(job.kind === "match" ? findMatch(job) : findLines(job));
});
parentPort?.postMessage("ready");
