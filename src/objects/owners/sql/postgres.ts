import type { Statements } from "../../../storage/index.ts";
import type { ObjectOwner, ObjectOwnerStore, OwnedObjects } from "../store.ts";
import { type OwnerRow, statementsWith, toObjectOwner } from "./rows.ts";

const SQL = statementsWith((index) => `$${index}`, {
  pairs: "(SELECT DISTINCT kind, id FROM unnest($5::text[], $6::text[]) AS given (kind, id)) AS pairs",
  ids: "SELECT unnest($3::text[])",
});

/** Owners of stored objects on Postgres. */
export class PostgresObjectOwnerStore implements ObjectOwnerStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async put({ objects, provider, owner, keyId, expiresAt }: OwnedObjects): Promise<void> {
    const kinds = objects.map(({ kind }) => kind);
    const ids = objects.map(({ id }) => id);
    await this.#statements.run(SQL.put, [provider, owner, keyId, expiresAt, kinds, ids]);
  }

  async find(provider: string, ids: readonly string[], at: number): Promise<ObjectOwner[]> {
    return (await this.#statements.run<OwnerRow>(SQL.find, [provider, at, ids])).map(toObjectOwner);
  }

  async deleteExpired(at: number): Promise<void> {
    await this.#statements.run(SQL.deleteExpired, [at]);
  }
}
