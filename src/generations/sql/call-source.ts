import { firstRequestIdAt, timeOfSeries } from "../../core/index.ts";
import { sql, type SqlRunner } from "../../storage/index.ts";
import type { CallPart } from "../call-query.ts";
import type { CallSource, Search } from "../call-reader.ts";
import type { Generation } from "../generation.ts";
import { failedByName, lastById, lastFailed, type Matching, pageById, pageOfFailed } from "./call-pages.ts";
import { type CallStatements, type OwnPlace, postgresCalls, sqliteCalls } from "./calls.ts";
import { ids, last, starts, toGeneration } from "./rows.ts";

export class SqlCallSource implements CallSource {
  readonly #sql: SqlRunner;
  readonly #calls: CallStatements;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
    this.#calls = runner.engine === "sqlite" ? sqliteCalls : postgresCalls;
  }

  async searchAll({ matching, after, batchRows, limit }: Search, low: string): Promise<CallPart> {
    const range = { low, before: after ?? firstRequestIdAt(matching.to) };
    const { hasFailed = false } = matching;
    const end = await this.#sql.first(
      hasFailed ? lastFailed(range, batchRows) : lastById(range, batchRows),
      (row) => ids.read(row).id,
    );
    const batch = { ...range, low: end ?? low };
    const calls = await this.#sql.rows(
      hasFailed ? pageOfFailed(batch, matching, limit) : pageById(batch, matching, limit),
      toGeneration,
    );
    return { calls, next: calls.length === limit ? calls.at(-1)?.id : end };
  }

  async searchOwn({ matching, after, batchRows, limit }: Search, owner: string): Promise<CallPart> {
    const { from, to } = matching;
    const place = after === undefined ? endingAt(to) : await this.#placeOf(after);
    const range = { owner, from, to: Math.min(to, place.id === "" ? place.startedAt : place.startedAt + 1) };
    const end = await this.#sql.first(this.#calls.newest(range, batchRows), (row) => last.read(row).last);
    const batch = { ...range, from: end ?? from };
    const calls = await this.#sql.rows(this.#calls.page(batch, place, matching, limit), toGeneration);
    if (calls.length === limit) return { calls, next: calls.at(-1)?.id };
    return { calls, next: end === undefined ? undefined : firstRequestIdAt(end) };
  }

  failedBy(name: string, matching: Matching): Promise<Generation | undefined> {
    return this.#sql.first(failedByName(name, matching), toGeneration);
  }

  /** A cursor that is no call's id is the end of a batch, or a call that was removed meanwhile. */
  async #placeOf(id: string): Promise<OwnPlace> {
    const found = sql`SELECT started_at FROM generations WHERE id = ${id}`;
    const startedAt = await this.#sql.first(found, (row) => starts.read(row).startedAt);
    return startedAt === undefined ? endingAt(timeOfSeries(id)) : { startedAt, id };
  }
}

/** Behind all calls that began at a time or later. */
const endingAt = (startedAt: number): OwnPlace => ({ startedAt, id: "" });
