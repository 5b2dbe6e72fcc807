import type { Nano } from "../core/index.ts";
import type { CallRecord } from "../ledger/index.ts";

/** A call that has ended, as it was written in the commit that ended its hold. */
export interface Generation extends Omit<CallRecord, "outcome" | "status"> {
  /** The request's. */
  id: string;
  tokenId: string;
  /** Undefined where the call's process died before it said. */
  status: number | undefined;
  /** How the call went, or that its process died and the sweeper ended it. */
  outcome: CallRecord["outcome"] | "expired";
  inputTokens: number;
  outputTokens: number;
  /** What was charged. */
  credits: Nano;
}

/** What a user's calls are summed by: the day (UTC) in which they began, their model, or their token. */
export type UsageGrouping = "day" | "model" | "token";

export interface UsageQuery {
  /** The user. */
  owner: string;
  /** Calls that began then or later, in milliseconds since the epoch. */
  from: number;
  /** Calls that began before. */
  to: number;
  groupBy: UsageGrouping;
  groupsMax: number;
  /** Ends the reading of a caller who went away. */
  signal?: AbortSignal;
}

export interface UsageSums {
  /** Calls that were taken, failed ones included. */
  requests: bigint;
  inputTokens: bigint;
  outputTokens: bigint;
  credits: Nano;
}

export interface UsageGroup extends UsageSums {
  /** The day as YYYY-MM-DD, the model's id with its provider's prefix, or the token's. */
  name: string;
}

export interface UsageReport {
  /** Days from the oldest, models and tokens from the dearest. A group without calls is left out. */
  groups: UsageGroup[];
  total: UsageSums;
}

/** The reading side of the calls that have ended. Both methods give a user's own only. */
export interface GenerationStore {
  /** Undefined where there is none, it is another's, or its call has not ended. */
  find(id: string, owner: string): Promise<Generation | undefined>;
  usage(query: UsageQuery): Promise<UsageReport | "too-many-groups">;
}
