import type { TokenRecord } from "../store.ts";

/** A token's row on either engine; `Flag` is the engine's type for booleans. */
export interface TokenRow<Flag> {
  id: string;
  secret_hash: Uint8Array;
  user_name: string;
  account_id: string;
  service: Flag;
  admin: Flag;
  models: string | null;
  rpm: bigint | null;
  tpm: bigint | null;
  concurrency: bigint | null;
  expires_at: bigint | null;
  revoked_at: bigint | null;
  created_at: bigint;
}

const optionalNumber = (value: bigint | null): number | undefined => (value === null ? undefined : Number(value));

/** Converts a row to a record; `isSet` converts the engine's booleans. */
export function toRecord<Flag>(row: TokenRow<Flag>, isSet: (flag: Flag) => boolean): TokenRecord {
  return {
    id: row.id,
    secretHash: row.secret_hash,
    user: row.user_name,
    accountId: row.account_id,
    service: isSet(row.service),
    admin: isSet(row.admin),
    models: row.models?.split(","),
    rpm: optionalNumber(row.rpm),
    tpm: optionalNumber(row.tpm),
    concurrency: optionalNumber(row.concurrency),
    expiresAt: optionalNumber(row.expires_at),
    revokedAt: optionalNumber(row.revoked_at),
    createdAt: Number(row.created_at),
  };
}
