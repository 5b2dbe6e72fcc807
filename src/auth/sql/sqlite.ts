import type { Database } from "bun:sqlite";
import type { TokenRecord, TokenStore } from "../store.ts";

interface TokenRow {
  id: string;
  secret_hash: Uint8Array;
  user_name: string;
  account_id: string;
  service: bigint;
  admin: bigint;
  models: string | null;
  rpm: bigint | null;
  concurrency: bigint | null;
  expires_at: bigint | null;
  revoked_at: bigint | null;
  created_at: bigint;
}

const optionalNumber = (value: bigint | null): number | undefined => (value === null ? undefined : Number(value));

function toRecord(row: TokenRow): TokenRecord {
  return {
    id: row.id,
    secretHash: row.secret_hash,
    user: row.user_name,
    accountId: row.account_id,
    service: row.service === 1n,
    admin: row.admin === 1n,
    models: row.models?.split(","),
    rpm: optionalNumber(row.rpm),
    concurrency: optionalNumber(row.concurrency),
    expiresAt: optionalNumber(row.expires_at),
    revokedAt: optionalNumber(row.revoked_at),
    createdAt: Number(row.created_at),
  };
}

/** Tokens on SQLite. */
export class SqliteTokenStore implements TokenStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(token: TokenRecord): Promise<void> {
    this.#database
      .query(
        `INSERT INTO tokens (id, secret_hash, user_name, account_id, service, admin, models, rpm, concurrency, expires_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        token.id,
        token.secretHash,
        token.user,
        token.accountId,
        token.service ? 1 : 0,
        token.admin ? 1 : 0,
        token.models?.join(",") ?? null,
        token.rpm ?? null,
        token.concurrency ?? null,
        token.expiresAt ?? null,
        token.createdAt,
      );
    return Promise.resolve();
  }

  find(id: string): Promise<TokenRecord | undefined> {
    const row = this.#database.query<TokenRow, [string]>("SELECT * FROM tokens WHERE id = ?").get(id);
    return Promise.resolve(row === null ? undefined : toRecord(row));
  }

  list(): Promise<TokenRecord[]> {
    return Promise.resolve(
      this.#database.query<TokenRow, []>("SELECT * FROM tokens ORDER BY created_at, id").all().map(toRecord),
    );
  }

  revoke(id: string, at: number): Promise<boolean> {
    const { changes } = this.#database
      .query("UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?")
      .run(at, id);
    return Promise.resolve(changes > 0);
  }
}
