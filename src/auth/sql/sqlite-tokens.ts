import type { Database } from "bun:sqlite";
import type { TokenRecord, TokenStore } from "../store.ts";
import { type TokenRow, toRecord } from "./token-rows.ts";

type Row = TokenRow<bigint>;

const isSet = (flag: bigint): boolean => flag === 1n;

/** Tokens on SQLite. */
export class SqliteTokenStore implements TokenStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(token: TokenRecord): Promise<void> {
    this.#database
      .query(
        `INSERT INTO tokens (id, secret_hash, user_name, account_id, service, admin, models, rpm, tpm, concurrency, expires_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
        token.tpm ?? null,
        token.concurrency ?? null,
        token.expiresAt ?? null,
        token.createdAt,
      );
    return Promise.resolve();
  }

  find(id: string, secretHash: Uint8Array): Promise<TokenRecord | undefined> {
    const statement = "SELECT * FROM tokens WHERE id = ? AND secret_hash = ?";
    const row = this.#database.query<Row, [string, Uint8Array]>(statement).get(id, secretHash);
    return Promise.resolve(row === null ? undefined : toRecord(row, isSet));
  }

  findById(id: string): Promise<TokenRecord | undefined> {
    const row = this.#database.query<Row, [string]>("SELECT * FROM tokens WHERE id = ?").get(id);
    return Promise.resolve(row === null ? undefined : toRecord(row, isSet));
  }

  list(): Promise<TokenRecord[]> {
    return Promise.resolve(
      this.#database
        .query<Row, []>("SELECT * FROM tokens ORDER BY created_at, id")
        .all()
        .map((row) => toRecord(row, isSet)),
    );
  }

  revoke(id: string, at: number): Promise<boolean> {
    const { changes } = this.#database
      .query("UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?")
      .run(at, id);
    return Promise.resolve(changes > 0);
  }
}
