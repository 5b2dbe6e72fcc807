import { creditsNumber, type Nano } from "../../core/index.ts";
import { AccountError } from "../account-error.ts";
import type { AccountsDependencies } from "../dependencies.ts";

const refusals = {
  running: "has not ended; it can be refunded once it has",
  free: "was not charged",
  "no-call": "is no call of the books; entries that were removed can't be refunded",
} as const;

/**
 * Gives back the whole charge of a call, and returns it. Throws an `AccountError`, and changes nothing, if the call was
 * refunded before, has not ended, was not charged or does not exist.
 */
export function refundCall(
  { ledger, log, environment, caller: { actor } }: AccountsDependencies,
  requestId: string,
  reason: string,
): Promise<Nano> {
  return log.act({ actor, reason }, function* (note) {
    const at = environment.clock();
    const refund = yield* ledger.apply({ kind: "refund", id: requestId, at, actor: actor.name, reason });
    if (refund.outcome !== "refunded") {
      const why = refund.outcome === "exists" ? "was refunded before" : refusals[refund.outcome];
      throw new AccountError(`${requestId} ${why}`);
    }
    note({ act: "call.refund", target: requestId, after: { amount: creditsNumber(refund.amount) } });
    return refund.amount;
  });
}
