/**
 * Where a pattern begins in a sequence, without overlaps, in time that grows with both lengths and not with their product
 * (Knuth, Morris, Pratt): a file of equal lines must not hold the daemon up.
 */
export function* findRuns<T>(
  sequence: { readonly length: number; at(i: number): T },
  pattern: readonly T[],
): Generator<number> {
  const borders = bordersOf(pattern);
  let matched = 0;
  for (let i = 0; i < sequence.length; i++) {
    const item = sequence.at(i);
    while (matched > 0 && pattern[matched] !== item) matched = borders[matched - 1] ?? 0;
    if (pattern[matched] === item) matched++;
    if (matched === pattern.length) {
      yield i - matched + 1;
      matched = 0;
    }
  }
}

/** For each prefix the length of its longest border: a part that it both begins and ends with. */
function bordersOf<T>(pattern: readonly T[]): Int32Array {
  const borders = new Int32Array(pattern.length);
  let border = 0;
  for (let i = 1; i < pattern.length; i++) {
    while (border > 0 && pattern[border] !== pattern[i]) border = borders[border - 1] ?? 0;
    if (pattern[border] === pattern[i]) border++;
    borders[i] = border;
  }
  return borders;
}
