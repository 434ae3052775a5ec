// node --import …/loop-gaps.mjs: records how long the event loop was held, without touching the program. An immediate that sets
// itself again runs once in every turn of the loop, so the time between two of them is what the turn's other callbacks took.
// The kernel's run-queue wait of this thread is recorded beside it: this sampler keeps a core busy, and time spent waiting for a
// core is the machine's, not the program's. It makes next to no garbage, or it would measure its own collector.
// SIGUSR2 writes "end-µs gap-µs waited-µs" lines (end: CLOCK_MONOTONIC) to the file BENCH_GAPS names.
import { openSync, readSync, renameSync, writeFileSync } from "node:fs";

const WORTH_RECORDING_MS = 0.02;
const MOST_GAPS = 200_000;
const file = process.env.BENCH_GAPS;
if (file) sample(file);

function sample(path) {
  const gaps = new Float64Array(3 * MOST_GAPS);
  let used = 0;
  const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(96);
  let waited = 0;
  let last = performance.now(); // the first call is slow; the next two are not
  const originUs = Number(process.hrtime.bigint()) / 1000 - performance.now() * 1000;
  const tick = () => {
    const now = performance.now();
    const waitedNow = secondNumber(buffer, readSync(schedstat, buffer, 0, 96, 0));
    if (now - last > WORTH_RECORDING_MS && used < gaps.length) {
      gaps[used++] = originUs + now * 1000;
      gaps[used++] = (now - last) * 1000;
      gaps[used++] = (waitedNow - waited) / 1000;
    }
    waited = waitedNow;
    last = performance.now();
    setImmediate(tick);
  };
  setImmediate(tick);
  process.on("SIGUSR2", () => {
    const lines = [];
    for (let i = 0; i < used; i += 3) lines.push(gaps.subarray(i, i + 3).join(" "));
    used = 0;
    writeFileSync(`${path}.part`, lines.join("\n"));
    renameSync(`${path}.part`, path);
  });
}

/** The second of the numbers in a text such as "123 456 7", without making a string. */
function secondNumber(bytes, length) {
  let value = 0;
  let spaces = 0;
  for (let i = 0; i < length && spaces < 2; i++) {
    if (bytes[i] === 32) spaces++;
    else if (spaces === 1) value = value * 10 + bytes[i] - 48;
  }
  return value;
}
