import { waitMsMax } from "./time-limits.ts";

/**
 * Waits for a condition instead of a time: resolves with the first value that is neither undefined nor false. Waits at least
 * `waitMsMax`, or longer on request.
 */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  longerMs = 0,
): Promise<T> {
  const timeoutMs = Math.max(waitMsMax, longerMs);
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    await Bun.sleep(10);
  }
  throw new Error(`not within ${timeoutMs} ms: ${what}`);
}
