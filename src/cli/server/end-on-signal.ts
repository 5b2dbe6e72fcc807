/**
 * Returns a function that ends this process: it runs `stop` once and exits with its code. SIGINT and SIGTERM do the
 * same; a second one of the same kind ends the process at once.
 */
export function endOnSignal(stop: () => Promise<number>): () => void {
  let isEnding = false;
  const end = (): void => {
    // Under npx, one Ctrl-C arrives as both signals.
    if (isEnding) return;
    isEnding = true;
    void stop().then((code) => process.exit(code));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  return end;
}
