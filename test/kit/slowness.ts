import { expect } from "bun:test";

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

/** A request of one user, alone and beside another who sends as much as possible. */
interface BesideTimes {
  queue: string;
  aloneMs: number;
  besideMs: number;
  slow: number;
}

/**
 * Fails if the request takes longer than twice its time alone and two seconds, on a machine that does nothing else. With the variable
 * `TIMES` the times are printed, for docs/performance.md.
 */
export function expectShare({ queue, aloneMs, besideMs, slow }: BesideTimes): void {
  if (process.env["TIMES"] !== undefined) {
    const rounded = [aloneMs, besideMs].map((ms) => `${Math.round(ms)} ms`);
    console.info(`${queue}: alone ${rounded[0]}, beside ${rounded[1]}, on a machine ${slow.toFixed(1)} times slower`);
  }
  expect(besideMs).toBeLessThan(slow * (2 * aloneMs + 2_000));
}
