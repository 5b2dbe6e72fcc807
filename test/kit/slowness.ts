/** The processor time of one measurement. */
const spinMs = 60;

/**
 * How many times longer this process takes than it computes, because others use the processors: 1 on an idle machine. A bound
 * of time that holds there is multiplied by it.
 */
function slowness(): number {
  const startedMs = performance.now();
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1_000;
    if (cpuMs >= spinMs) return Math.max(1, (performance.now() - startedMs) / cpuMs);
  }
}

/** The larger one of before and after some work, and its result. */
export async function besideOthers<T>(work: () => Promise<T>): Promise<{ result: T; slow: number }> {
  const before = slowness();
  const result = await work();
  return { result, slow: Math.max(before, slowness()) };
}
