import type { Statements } from "../../storage/index.ts";
import type { TokenRecord, TokenStore } from "../store.ts";
import { type TokenRow, toRecord } from "./token-rows.ts";

type Row = TokenRow<boolean>;

const isSet = (flag: boolean): boolean => flag;

/** Tokens on Postgres. */
export class PostgresTokenStore implements TokenStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async insert(token: TokenRecord): Promise<void> {
    await this.#statements.run(
      `INSERT INTO tokens (id, secret_hash, user_name, account_id, service, admin, models, rpm, tpm, concurrency, expires_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        token.id,
        token.secretHash,
        token.user,
        token.accountId,
        token.service,
        token.admin,
        token.models?.join(",") ?? null,
        token.rpm ?? null,
        token.tpm ?? null,
        token.concurrency ?? null,
        token.expiresAt ?? null,
        token.createdAt,
      ],
    );
  }

  async find(id: string, secretHash: Uint8Array): Promise<TokenRecord | undefined> {
    const statement = "SELECT * FROM tokens WHERE id = $1 AND secret_hash = $2";
    const [row] = await this.#statements.run<Row>(statement, [id, secretHash]);
    return row === undefined ? undefined : toRecord(row, isSet);
  }

  async findById(id: string): Promise<TokenRecord | undefined> {
    const [row] = await this.#statements.run<Row>("SELECT * FROM tokens WHERE id = $1", [id]);
    return row === undefined ? undefined : toRecord(row, isSet);
  }

  async list(): Promise<TokenRecord[]> {
    const rows = await this.#statements.run<Row>("SELECT * FROM tokens ORDER BY created_at, id");
    return rows.map((row) => toRecord(row, isSet));
  }

  async revoke(id: string, at: number): Promise<boolean> {
    const rows = await this.#statements.run(
      "UPDATE tokens SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2 RETURNING id",
      [at, id],
    );
    return rows.length > 0;
  }
}
