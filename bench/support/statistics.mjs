/** The value below which the fraction `p` of the samples lies; 0 is the minimum, 1 the maximum. */
export function quantile(samples, p) {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
}

export const least = (samples) => quantile(samples, 0);
export const median = (samples) => quantile(samples, 0.5);
export const sum = (samples) => samples.reduce((total, sample) => total + sample, 0);

/** Runs every variant `rounds` times, taking turns, so that a slow moment of the machine hits all of them alike. */
export async function interleave(variants, rounds, measure) {
  const samples = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, variant] of Object.entries(variants))
      samples[name].push(...(await measure(variant, name, round)));
  }
  return samples;
}

/** Calls `work` `count` times from `width` loops at once; answers the milliseconds it took. */
export async function crowd(count, width, work) {
  let next = 0;
  const from = performance.now();
  const loop = async (_, lane) => {
    while (next < count) await work(lane, next++);
  };
  await Promise.all(Array.from({ length: width }, loop));
  return performance.now() - from;
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
