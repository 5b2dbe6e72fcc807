import type { Nano } from "../core/index.ts";
import { AccountError } from "./account-error.ts";
import type { AccountsDependencies } from "./dependencies.ts";

const refusals = {
  running: "has not ended; it can be refunded once it has",
  free: "was not charged",
  "no-call": "is no call of the books; entries that were removed can't be refunded",
} as const;

/**
 * Gives back the whole charge of a call, and returns it. Throws an `AccountError`, and changes nothing, if the call was
 * refunded before, has not ended, was not charged or does not exist.
 */
export async function refundCall(
  { ledger, environment, actor }: Pick<AccountsDependencies, "ledger" | "environment" | "actor">,
  requestId: string,
  reason: string,
): Promise<Nano> {
  const refund = await ledger.submit({ kind: "refund", id: requestId, at: environment.clock(), actor, reason });
  if (refund.outcome === "refunded") return refund.amount;
  const why = refund.outcome === "exists" ? "was refunded before" : refusals[refund.outcome];
  throw new AccountError(`${requestId} ${why}`);
}
