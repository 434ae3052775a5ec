/** Which items of the old and of the new sequence have no partner in the other. */
export interface Marks {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

/** Steps of the search; each keeps a row of its length, so a thousand are four megabytes. */
const STEPS = 1_000;
/** Comparisons in all, about a tenth of a second. */
const WORK = 20_000_000;

/** The shortest edit from one sequence to another (Myers 1986); where it would cost too much, everything is exchanged. */
export function shortestEdit(a: Int32Array, b: Int32Array): Marks {
  const most = Math.min(a.length + b.length, STEPS, Math.max(16, Math.floor(WORK / (a.length + b.length + 1))));
  const rows: Int32Array[] = [];
  // Diagonals run from -most to most; `reach` holds the furthest x on each.
  const reach = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let d = 0; d <= most; d++) {
    for (let k = -d; k <= d; k += 2) {
      const down = isDown(k, d, (other) => reach[middle + other] ?? 0);
      let x = down ? (reach[middle + k + 1] ?? 0) : (reach[middle + k - 1] ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, rows);
    }
    rows.push(reach.slice(middle - d, middle + d + 1));
  }
  return { removed: new Uint8Array(a.length).fill(1), added: new Uint8Array(b.length).fill(1) };
}

function isDown(k: number, d: number, reach: (k: number) => number): boolean {
  return k === -d || (k !== d && reach(k - 1) < reach(k + 1));
}

function walkBack(a: Int32Array, b: Int32Array, rows: readonly Int32Array[]): Marks {
  const marks = { removed: new Uint8Array(a.length), added: new Uint8Array(b.length) };
  let x = a.length;
  let y = b.length;
  for (let d = rows.length; d > 0; d--) {
    const row = rows[d - 1];
    const reach = (k: number) => row?.[k + d - 1] ?? 0;
    const k = x - y;
    const down = isDown(k, d, reach);
    x = reach(down ? k + 1 : k - 1);
    y = x - (down ? k + 1 : k - 1);
    if (down) marks.added[y] = 1;
    else marks.removed[x] = 1;
  }
  return marks;
}
