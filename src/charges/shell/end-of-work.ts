/** How every way of work ends: its outcome, its charge, its failure. */
import { GatewayError, isOutsideFault, type Nano } from "../../core/index.ts";
import type { CallRecord } from "../../ledger/index.ts";
import { durably } from "../end-hold.ts";
import type { Work, WorkEnd } from "../work.ts";

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
  return hasBegun || !isOutsideFault(error) ? "interrupted" : "failed";
}

const nothingSent: AnsweredClient = { hasLeft: false, hasBegun: false };

/** The end of work that fails, for every way of work; without a client by default. */
export function failedEnd(thrown: unknown, client = nothingSent): Pick<WorkEnd, "status" | "outcome" | "error"> {
  const error = thrown instanceof GatewayError ? thrown : undefined;
  return { status: error?.status ?? 500, outcome: outcomeOf(thrown, client), error };
}

/** Ends work. Resolves to what it is charged, in nano-credits, once that is durable; rejects like `durably`. */
export async function charged(work: Work, end: WorkEnd): Promise<Nano> {
  const { observed } = end;
  const cost = observed === undefined ? 0n : work.costOf(observed);
  return cost - (await durably(work.end(end)));
}
