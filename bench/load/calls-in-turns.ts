/** Calls of one caller, who waits for each answer. */
import { useOfTree } from "../system/processes.ts";
import { Samples } from "./samples.ts";

export type Call = () => Promise<void>;

/** Calls before the sides change. */
const turn = 50;

/** The median of each side's calls, in milliseconds; the sides take turns. */
export async function mediansOf<Side extends string>(
  sides: Readonly<Record<Side, Call>>,
  calls: number,
): Promise<Record<Side, number>> {
  const all = Object.entries<Call>(sides).map(([side, call]) => ({ side, call, samples: new Samples() }));
  // The first third is for the JIT compiler.
  for (let done = -calls / 3; done < calls; done += turn) {
    for (const { call, samples } of all) {
      for (let index = 0; index < turn; index += 1) {
        const begun = performance.now();
        await call();
        if (done >= 0) samples.add(performance.now() - begun);
      }
    }
  }
  const medians = all.map(({ side, samples }) => [side, samples.spread()?.p50 ?? Number.NaN] as const);
  return Object.fromEntries(medians) as Record<Side, number>;
}

/** Of a process and its children, in microseconds a call. */
export async function cpuOfCalls(pid: number, call: Call, calls: number): Promise<number> {
  for (let index = 0; index < calls / 3; index += 1) await call();
  const before = useOfTree(pid).cpuMs;
  for (let index = 0; index < calls; index += 1) await call();
  return ((useOfTree(pid).cpuMs - before) * 1_000) / calls;
}
