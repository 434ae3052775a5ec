/** Marks an error that is left alone on purpose; `why` is for the reader. */
export function ignore(_error: unknown, _why: string): void {
  return;
}
