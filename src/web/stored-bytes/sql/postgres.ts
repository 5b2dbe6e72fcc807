import type { Statements } from "../../../storage/index.ts";
import type { BytesBound, BytesKind, StoredBytes, StoredBytesStore } from "../store.ts";
import { type BytesRow, statementsWith, toStoredBytes, valuesOf } from "./rows.ts";

const SQL = statementsWith((index) => `$${index}`);

/** Stored bytes on Postgres. */
export class PostgresStoredBytesStore implements StoredBytesStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async put(bytes: StoredBytes): Promise<void> {
    await this.#statements.run(SQL.put, valuesOf(bytes));
  }

  async find(kind: BytesKind, id: string, at: number): Promise<StoredBytes | undefined> {
    const [row] = await this.#statements.run<BytesRow>(SQL.find, [kind, id, at]);
    return row && toStoredBytes(row);
  }

  async trim(kind: BytesKind, owner: string, { countMax, bytesMax }: BytesBound): Promise<void> {
    await this.#statements.run(SQL.trim, [kind, owner, countMax, bytesMax]);
  }

  async deleteExpired(at: number): Promise<void> {
    await this.#statements.run(SQL.deleteExpired, [at]);
  }
}
