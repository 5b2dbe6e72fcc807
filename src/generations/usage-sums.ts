import type { UsageSums } from "./store.ts";

/** A part of the sums. */
interface Added extends Omit<UsageSums, "units" | "firstTokens"> {
  units?: readonly (readonly [bucket: string, units: bigint])[];
  firstTokens?: readonly bigint[];
}

export const nothing = (): UsageSums => ({
  requests: 0n,
  failures: 0n,
  inputTokens: 0n,
  outputTokens: 0n,
  credits: 0n,
  listCredits: 0n,
});

export function add(sums: UsageSums, row: Added): void {
  sums.requests += row.requests;
  sums.failures += row.failures;
  sums.listCredits += row.listCredits;
  sums.inputTokens += row.inputTokens;
  sums.outputTokens += row.outputTokens;
  sums.credits += row.credits;
  if (row.units !== undefined) {
    sums.units ??= new Map();
    for (const [bucket, units] of row.units) sums.units.set(bucket, (sums.units.get(bucket) ?? 0n) + units);
  }
  if (row.firstTokens !== undefined) {
    const before = sums.firstTokens;
    sums.firstTokens = row.firstTokens.map((count, index) => count + (before?.[index] ?? 0n));
  }
}
