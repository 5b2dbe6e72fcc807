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
}

export function toOpenHold(row: HoldRow): OpenHold {
  return {
    id: row.id,
    accountId: row.account_id,
    amount: row.amount,
    purpose: row.purpose,
    observed: row.observed ?? undefined,
    createdAt: Number(row.created_at),
    leaseUntil: Number(row.lease_until),
  };
}
