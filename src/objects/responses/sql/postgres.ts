import type { Statements } from "../../../storage/index.ts";
import type { ResponseStore, StoredResponse } from "../store.ts";
import { type ResponseRow, statementsWith, toStoredResponse, valuesOf } from "./rows.ts";

const SQL = statementsWith((index) => `$${index}`);

/** Responses on Postgres. */
export class PostgresResponseStore implements ResponseStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async put(response: StoredResponse): Promise<void> {
    await this.#statements.run(SQL.put, valuesOf(response));
  }

  async find(id: string, owner: string, at: number): Promise<StoredResponse | undefined> {
    const [row] = await this.#statements.run<ResponseRow>(SQL.find, [id, owner, at]);
    return row === undefined ? undefined : toStoredResponse(row);
  }

  async chain(id: string, owner: string, at: number): Promise<StoredResponse[]> {
    const rows = await this.#statements.run<ResponseRow>(SQL.chain, [id, owner, at]);
    return rows.map(toStoredResponse);
  }

  async remove(id: string, owner: string): Promise<boolean> {
    return (await this.#statements.run(SQL.remove, [id, owner])).length > 0;
  }

  async deleteExpired(at: number): Promise<void> {
    await this.#statements.run(SQL.forget, [at]);
  }
}
