/** The longest wait after the first failure; it doubles with each further one. */
const BACK_OFF_MS_MIN = 1_000;
const BACK_OFF_MS_MAX = 300_000;

/**
 * The milliseconds that a job waits after `attempts` failed runs. `fraction`, from 0 to 1, spreads them over the upper half of
 * the back-off, so that jobs that failed together are not retried together.
 */
export function backOffMs(attempts: number, fraction: number): number {
  const longest = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS_MIN * 2 ** (attempts - 1));
  return Math.round((longest / 2) * (1 + fraction));
}
