import { dayName } from "../../../core/index.ts";
import type { Drift } from "../../books.ts";
import type { SumRow } from "./rows.ts";

/** Reported differences of sums; there may be as many as sums. */
export const SUM_DRIFTS_MAX = 1_000;

type Sums = Pick<SumRow, "requests" | "failures" | "input_tokens" | "output_tokens" | "credits" | "list_credits">;

/** The differences between a sum and its calls; either may be missing. */
export function sumDrifts(key: SumRow, recorded: Sums | undefined, recomputed: Sums | undefined): Drift[] {
  const { account_id: accountId, owner, day, provider, model, operation, tags } = key;
  const place = `${dayName(Number(day))} ${owner} ${provider}/${model} ${operation}${tags === "" ? "" : ` ${tags}`}`;
  const counters = [
    ["usage_requests", "requests"],
    ["usage_failures", "failures"],
    ["usage_input_tokens", "input_tokens"],
    ["usage_output_tokens", "output_tokens"],
    ["usage_credits", "credits"],
    ["usage_list_credits", "list_credits"],
  ] as const;
  return counters.flatMap(([counter, column]): Drift[] => {
    const [is, shouldBe] = [recorded?.[column] ?? 0n, recomputed?.[column] ?? 0n];
    return is === shouldBe ? [] : [{ accountId, counter, recorded: is, recomputed: shouldBe, place }];
  });
}
