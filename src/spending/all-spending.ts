/** All spending of a time, day by day, as exports have it. */
import type { AllSpendingQuery, UsageDetail } from "../generations/index.ts";
import { queryOf, type SpendingDependencies, type SpendingRequest } from "./report-spending.ts";
import { entryOf } from "./spending-json.ts";

/** The dimensions by which the sums of days are kept. */
const groupBy = [
  "organisation",
  "project",
  "user",
  "token",
  "provider",
  "model",
  "operation",
] as const satisfies AllSpendingQuery["groupBy"];

export type DailySpending = ReturnType<typeof entryOf>;

type AllSpendingRequest = Pick<
  SpendingRequest,
  "from" | "to" | "organisation" | "user" | "project" | "token" | "signal"
>;

/**
 * The spending of each day, token, model and operation, read while it is taken, or the time before which calls were removed. Throws 404
 * for accounts out of the caller's reach.
 */
export async function allSpending(
  deps: SpendingDependencies,
  request: AllSpendingRequest,
  details: readonly UsageDetail[],
): Promise<{ parts: AsyncIterable<DailySpending[]> } | { removedBefore: number }> {
  const { query, places } = await queryOf(deps, request);
  const found = await deps.generations.allSpending({ ...query, groupBy, details });
  if ("removedBefore" in found) return found;
  const { parts } = found;
  const shown = async function* (): AsyncIterable<DailySpending[]> {
    for await (const groups of parts) yield groups.map((group) => entryOf(group, places, details));
  };
  return { parts: shown() };
}
