import type { Nano } from "../../core/index.ts";
import type { HoldKeeper } from "../operations.ts";
import type { OpenHold } from "../store.ts";

/** A row of `holds` from either engine: every integer is a bigint. */
export interface HoldRow {
  id: string;
  account_id: string;
  amount: bigint;
  operation: string;
  provider: string;
  model: string;
  observed: bigint | null;
  lease_until: bigint;
  created_at: bigint;
  tokens: bigint;
  /** The retry key that it claims. */
  retry_key: string | null;
  keeper: HoldKeeper;
  parent: string | null;
  session: string | null;
  /** JSON. */
  budgets: string | null;
  /** See `Hold`; null of all others. */
  is_part: bigint | boolean | null;
}

export function toOpenHold(row: HoldRow): OpenHold {
  return {
    id: row.id,
    accountId: row.account_id,
    amount: row.amount,
    description: `${row.operation} ${row.provider}/${row.model}`,
    observed: row.observed ?? undefined,
    createdAt: Number(row.created_at),
    leaseUntil: Number(row.lease_until),
    keeper: row.keeper,
  };
}

/**
 * The charge of an expired hold: the full amount for a job, because its upstream continues the work; the observed cost
 * for a process, if there is one.
 */
export function costOfExpired({ observed, keeper, amount }: HoldRow): Nano {
  return keeper === "job" ? amount : (observed ?? 0n);
}
