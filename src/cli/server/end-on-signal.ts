/** The signal by which a next process on the same port lets this one hand over. */
export const HAND_OVER_SIGNAL = "SIGUSR2";

/** The same for a worker, from its parent. */
export const HAND_OVER = "hand-over";

/** How a process stops. */
export interface Stopping {
  /** Whether a next process listens on its port already. */
  handsOver: boolean;
}

/**
 * Returns a function that ends this process: it runs `stop` once and exits with its code. SIGINT and SIGTERM do the
 * same, and SIGUSR2 hands over; a second one of the same kind ends the process at once.
 */
export function endOnSignal(stop: (how: Stopping) => Promise<number>): (how?: Stopping) => void {
  let isEnding = false;
  const end = (how: Stopping = { handsOver: false }): void => {
    // Under npx, one Ctrl-C arrives as both signals.
    if (isEnding) return;
    isEnding = true;
    void stop(how).then((code) => process.exit(code));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end());
  process.once(HAND_OVER_SIGNAL, () => end({ handsOver: true }));
  return end;
}
