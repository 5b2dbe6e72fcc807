import { dayName } from "../../../core/index.ts";
import type { Drift } from "../../books.ts";
import type { SumRow } from "./rows.ts";

/** Reported differences of sums; there may be as many as sums. */
export const SUM_DRIFTS_MAX = 1_000;

/** The columns of sums, by the names that differences have. */
export const usageCounters = [
  ["usage_requests", "requests"],
  ["usage_failures", "failures"],
  ["usage_input_tokens", "input_tokens"],
  ["usage_output_tokens", "output_tokens"],
  ["usage_credits", "credits"],
  ["usage_list_credits", "list_credits"],
] as const;

export type Sums = Pick<SumRow, (typeof usageCounters)[number][1]>;

/** The differences between a sum of a day and its calls, or of a month and its days; either may be missing. */
export function sumDrifts(
  key: SumRow,
  recorded: Sums | undefined,
  recomputed: Sums | undefined,
  unit: "day" | "month" = "day",
): Drift[] {
  const { account_id: accountId, owner, day, provider, model, operation, tags } = key;
  const date = dayName(Number(day)).slice(0, unit === "month" ? "2026-11".length : undefined);
  const place = `${date} ${owner} ${provider}/${model} ${operation}${tags === "" ? "" : ` ${tags}`}`;
  return usageCounters.flatMap(([counter, column]): Drift[] => {
    const [is, shouldBe] = [recorded?.[column] ?? 0n, recomputed?.[column] ?? 0n];
    return is === shouldBe ? [] : [{ accountId, counter, recorded: is, recomputed: shouldBe, place }];
  });
}
