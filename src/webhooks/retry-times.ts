const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits after each failed attempt, from the example of the standard: ten attempts within three days and four hours. */
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

const WAIT_MS_MAX = 24 * HOUR;

/**
 * The milliseconds until the next attempt; undefined if there is none after this many. `fraction`, from 0 to 1, spreads the
 * attempts. `askedMs` is the wait that the receiver asked for; it counts if it is longer, up to a day.
 */
export function retryWaitMs(attempts: number, fraction: number, askedMs = 0): number | undefined {
  const wait = WAITS_MS[attempts - 1];
  if (wait === undefined) return undefined;
  return Math.round(Math.max(wait, Math.min(askedMs, WAIT_MS_MAX)) * (1 + SPREAD * fraction));
}
