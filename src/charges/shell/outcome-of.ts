import { GatewayError } from "../../core/index.ts";
import type { CallRecord } from "../../ledger/index.ts";

/** What the client of a failed piece of work has got of its answer. */
export interface AnsweredClient {
  /** Whether the work was ended because its client had disconnected. */
  hasLeft: boolean;
  /** Whether an answer had begun to reach it. */
  hasBegun: boolean;
}

/**
 * The outcome of work that ends with an error, for every way of work: `abandoned` if its client left, `interrupted` if an
 * answer that had begun broke off or the gateway itself could not go on, else `failed`: the upstream refused, or gave
 * nothing usable.
 */
export function outcomeOf(
  error: unknown,
  { hasLeft, hasBegun }: AnsweredClient,
): Exclude<CallRecord["outcome"], "complete" | "expired"> {
  if (hasLeft) return "abandoned";
  const isGateways = !(error instanceof GatewayError) || error.fault === "gateway";
  return hasBegun || isGateways ? "interrupted" : "failed";
}
