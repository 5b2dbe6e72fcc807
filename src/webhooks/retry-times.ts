const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits after each failed attempt: ten attempts within three days and four hours. */
const WAITS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** The part of a wait by which it may be longer, so that messages that failed together are not repeated together. */
const SPREAD = 0.1;

/**
 * The milliseconds until the next attempt; undefined if there is none after this many. `fraction`, from 0 to 1, spreads the
 * attempts.
 */
export function retryWaitMs(attempts: number, fraction: number): number | undefined {
  const wait = WAITS_MS[attempts - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + SPREAD * fraction));
}
