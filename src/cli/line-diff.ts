/** Lines around a change. */
const CONTEXT = 3;

/** What one edit in one place changes, in the form of `diff -u`; empty when nothing does. */
export function diffLines(before: string, after: string): string[] {
  if (before === after) return [];
  const [old, now] = [toLines(before), toLines(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const from = Math.max(0, head - CONTEXT);
  const end = Math.min(tail, CONTEXT);
  const start = (count: number) => (count === 0 ? 0 : from + 1);
  const [oldCount, nowCount] = [old.length - tail + end - from, now.length - tail + end - from];
  return [
    `@@ -${start(oldCount)},${oldCount} +${start(nowCount)},${nowCount} @@`,
    ...old.slice(from, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...now.slice(now.length - tail, now.length - tail + end).map((line) => ` ${line}`),
  ];
}

function toLines(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}
