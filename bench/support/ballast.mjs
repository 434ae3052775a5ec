// node --import …/ballast.mjs: makes the process as big as BENCH_BALLAST_MB says, resident and touched, as a daemon with a large
// heap would be. What matters to a fork is the number of mapped pages, not who maps them.
const targetBytes = Number(process.env.BENCH_BALLAST_MB ?? 0) * 1e6;
const ballast = [];

// Later than the program's own start-up, so that the target is the size of the whole.
if (targetBytes > 0) setTimeout(fill, 500);

function fill() {
  while (process.memoryUsage.rss() < targetBytes) ballast.push(Buffer.alloc(1 << 20, ballast.length + 1));
}
