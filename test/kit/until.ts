/** Waits for a condition instead of a time: resolves with the first value that is neither undefined nor false. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 4_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    await Bun.sleep(10);
  }
  throw new Error(`not within ${timeoutMs} ms: ${what}`);
}
