/** Waits until a condition holds; fails with its words when it does not in time. */
export async function until<T>(
  what: string,
  holds: () => T | Promise<T>,
  o: { timeoutMs?: number; everyMs?: number } = {},
): Promise<NonNullable<T>> {
  const limit = Date.now() + (o.timeoutMs ?? 10_000);
  for (;;) {
    const value = await holds();
    if (value) return value as NonNullable<T>;
    if (Date.now() > limit) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, o.everyMs ?? 10));
  }
}
