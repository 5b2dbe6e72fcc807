import type { Nano } from "../../core/index.ts";
import type { HoldKeeper } from "../operations.ts";
import type { OpenHold } from "../store.ts";

/** A row of `holds`, as either engine gives it: every integer a bigint. */
export interface HoldRow {
  id: string;
  account_id: string;
  amount: bigint;
  purpose: string;
  observed: bigint | null;
  lease_until: bigint;
  created_at: bigint;
  tokens: bigint;
  /** The key that it claims. */
  retry_key: string | null;
  keeper: HoldKeeper;
  parent: string | null;
}

export function toOpenHold(row: HoldRow): OpenHold {
  return {
    id: row.id,
    accountId: row.account_id,
    amount: row.amount,
    description: row.purpose,
    observed: row.observed ?? undefined,
    createdAt: Number(row.created_at),
    leaseUntil: Number(row.lease_until),
    keeper: row.keeper,
  };
}

/**
 * The charge of an expired hold: all of a job's, since its upstream goes on with the work and a figure from before says little;
 * of a process's the observed cost, if there is one.
 */
export function costOfExpired({ observed, keeper, amount }: HoldRow): Nano {
  return keeper === "job" ? amount : (observed ?? 0n);
}
