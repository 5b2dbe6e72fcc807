import type { Nano } from "../core/index.ts";
import type { CallRecord } from "../ledger/index.ts";

/** A call that has ended, as stored in the commit that ended its hold. */
export interface Generation extends Omit<CallRecord, "operation" | "outcome" | "status"> {
  /** The request's id. */
  id: string;
  tokenId: string;
  /** The account that it was charged to: the token's, as of then. */
  accountId: string;
  /** An `Operation`; a newer version may have written another. */
  operation: string;
  /** Undefined if the call's process died before it recorded this. */
  status: number | undefined;
  /** The outcome of the call; `expired` if its process died and the sweeper ended it. */
  outcome: CallRecord["outcome"] | "expired";
  inputTokens: number;
  outputTokens: number;
  /** The charge; zero once it was refunded. */
  credits: Nano;
  /** The amount that was given back. */
  refunded?: Nano;
}
